import { X509Certificate } from 'node:crypto';
import type pg from 'pg';
import { recentLiveNotes } from '../../adapters/read-model-postgres/support-reads.js';
import type { EventStore } from '../../app/event-store/event-store.js';
import { unpacked } from '../../app/issuing/stored-documents.js';
import { loadInvoice } from '../../app/read/read-invoice.js';
import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import type { ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { isSignedBySimulator } from '../../simulator/authority.js';

/** The certificate of the note's last signature, which is the authorizer's; the first is that of the DPS. Undefined where none can be read. */
const signerOfNote = (nfseXml: Buffer): X509Certificate | undefined => {
  const name = nfseXml.lastIndexOf('X509Certificate>');
  if (name === -1) return undefined;
  const end = nfseXml.lastIndexOf('<', name);
  const base64 = nfseXml.toString('latin1', nfseXml.lastIndexOf('>', end) + 1, end);
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
};

/** Whether a simulator signed the note, whatever serves its mode today (ADR 5). False where no certificate can be read. */
export const isSimulatorsNote = (nfseXml: Buffer): boolean => {
  const signer = signerOfNote(nfseXml);
  return signer !== undefined && isSignedBySimulator(signer);
};

/** Thrown when the simulator would serve live mode on a database with live notes of the national system. */
export class LiveNotesAreReal extends Error {
  override readonly name = 'LiveNotesAreReal';
}

/** Throws `LiveNotesAreReal` when the newest readable live note is not a simulator's: its "absent" would let an invoice be sent twice (ADR 5). */
export const refuseSimulatedLive = async (db: pg.Pool, store: EventStore): Promise<void> => {
  for (const stream of await recentLiveNotes(db)) {
    const origin = await originOf(stream, store);
    if (origin === 'simulator') return;
    if (origin === 'unreadable') continue;
    const invoiceId = parseInvoiceStream(stream)?.invoiceId ?? '';
    throw new LiveNotesAreReal(
      `live mode would be served by a simulator, but a live note of this database is not a simulator's (${publicInvoiceId(invoiceId)}): set AUTHORIZER_LIVE_URL, leave live out of SIMULATED_MODES, or use another database`,
    );
  }
};

/** A note that cannot be read stops no start, because `audit verify` names it, and an older note may say what it does not. */
const originOf = async (stream: StreamName, store: EventStore): Promise<'simulator' | 'elsewhere' | 'unreadable'> => {
  const events: readonly ReadInvoiceEvent[] = await loadInvoice(stream, store).then(
    (loaded) => loaded.events,
    () => [],
  );
  const note = events.findLast(isNote)?.data;
  if (note === undefined) return 'unreadable';
  // A note without its bytes and their hash did not fit into an event. No note of a simulator has that size.
  if (note.nfseXmlGzip === undefined) return note.nfseSha256 === undefined ? 'elsewhere' : 'unreadable';
  try {
    const signer = signerOfNote(unpacked(note.nfseXmlGzip));
    return signer === undefined ? 'unreadable' : isSignedBySimulator(signer) ? 'simulator' : 'elsewhere';
  } catch {
    return 'unreadable';
  }
};

type NoteEvent =
  | (ReadInvoiceEvent & { type: 'Authorized' })
  | (ReadInvoiceEvent & { type: 'IndeterminateResolved'; data: { as: 'issued' } });

/** Support may have settled an invoice by its note. */
const isNote = (event: ReadInvoiceEvent): event is NoteEvent =>
  event.type === 'Authorized' || (event.type === 'IndeterminateResolved' && event.data.as === 'issued');
