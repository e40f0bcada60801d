import { X509Certificate } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type pg from 'pg';
import { recentLiveNote } from '../../adapters/read-model-postgres/support-reads.js';
import type { EventStore } from '../../app/event-store/event-store.js';
import { loadInvoice } from '../../app/read/read-invoice.js';
import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import type { ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { isSignedBySimulator } from '../../simulator/start.js';

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
  const signer = stream && signerOf(await noteOf(stream, store));
  if (stream === undefined || signer === undefined || isSignedBySimulator(signer)) return;
  const invoiceId = parseInvoiceStream(stream)?.invoiceId ?? '';
  throw new LiveNotesAreReal(
    `live mode would be served by a simulator, but a live note of this database is not a simulator's (${publicInvoiceId(invoiceId)}): set AUTHORIZER_LIVE_URL, leave live out of SIMULATED_MODES, or use another database`,
  );
};

/** XML of the note; empty when the log does not hold it. A damaged event says nothing here: `audit verify` finds it. */
const noteOf = async (stream: StreamName, store: EventStore): Promise<string> => {
  const events: readonly ReadInvoiceEvent[] = await loadInvoice(stream, store).then(
    (loaded) => loaded.events,
    () => [],
  );
  const authorized = events.findLast((event) => event.type === 'Authorized');
  const gzip = authorized?.data.nfseXmlGzip;
  return gzip === undefined ? '' : gunzipSync(Buffer.from(gzip, 'base64')).toString('utf8');
};

/** The certificate of the last signature, which is the authorizer's; the first is that of the embedded DPS. */
const signerOf = (xml: string): X509Certificate | undefined => {
  const base64 = [...xml.matchAll(/X509Certificate>([^<]+)</g)].at(-1)?.[1];
  return base64 === undefined ? undefined : new X509Certificate(Buffer.from(base64, 'base64'));
};
