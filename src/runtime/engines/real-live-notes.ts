import type { X509Certificate } from 'node:crypto';
import type pg from 'pg';
import { recentLiveNote } from '../../adapters/read-model-postgres/support-reads.js';
import type { EventStore } from '../../app/event-store/event-store.js';
import { unpacked } from '../../app/event-store/packing.js';
import { loadInvoice } from '../../app/read/read-invoice.js';
import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import type { ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { isSignedBySimulator } from '../../simulator/authority.js';
import { signerOfNote } from './note-signer.js';

/** Thrown when the simulator would serve live mode on a database with live notes of the national system. */
export class LiveNotesAreReal extends Error {
  override readonly name = 'LiveNotesAreReal';
}

/**
 * Throws `LiveNotesAreReal` when the newest live note that this service issued was not signed by a simulator. The simulator does not know that note
 * or any other, so its "absent" for a send of unknown outcome would let the service issue an invoice twice.
 */
export const refuseSimulatedLive = async (db: pg.Pool, store: EventStore): Promise<void> => {
  const stream = await recentLiveNote(db);
  const signer = stream && (await signerOf(stream, store));
  if (stream === undefined || signer === undefined || isSignedBySimulator(signer)) return;
  const invoiceId = parseInvoiceStream(stream)?.invoiceId ?? '';
  throw new LiveNotesAreReal(
    `live mode would be served by a simulator, but a live note of this database is not a simulator's (${publicInvoiceId(invoiceId)}): set AUTHORIZER_LIVE_URL, leave live out of SIMULATED_MODES, or use another database`,
  );
};

/** Undefined for a note that cannot be read: such an event stops no start, `audit verify` names it. */
const signerOf = async (stream: StreamName, store: EventStore): Promise<X509Certificate | undefined> => {
  const events: readonly ReadInvoiceEvent[] = await loadInvoice(stream, store).then(
    (loaded) => loaded.events,
    () => [],
  );
  const authorized = events.findLast((event) => event.type === 'Authorized');
  try {
    return signerOfNote(unpacked(authorized?.data.nfseXmlGzip ?? ''));
  } catch {
    return undefined;
  }
};
