import type { DpsId } from '../../domain/common/access-key.js';
import {
  type CompanyId,
  dpsStream,
  type InvoiceId,
  invoiceStream,
  type Mode,
  type StreamName,
} from '../../domain/common/ids.js';
import type { DpsNumberEvent } from '../../domain/dps-number/events.js';
import type { FoundDocument, Owner } from '../../domain/invoice/sent-document.js';
import { type Invoice, isUnsettled } from '../../domain/invoice/state.js';
import type { AuthorizedNote, Caller } from '../../ports/authorizer.js';
import type { EventLog, Revision } from '../../ports/event-log.js';
import { decodeSealed } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';
import { compareNote, isNoteMet, isOfAnotherSale } from '../issuing/found-documents.js';
import { type LoadedInvoice, loadInvoice } from '../read/read-invoice.js';

/** Whose DPS an id names; series and number as the streams of numbers have them, unpadded. Undefined for text that is no DPS id. */
const readDpsId = (dpsId: DpsId): { companyId: CompanyId; series: string; number: number } | undefined => {
  const [, companyId = '', series, number] = /^DPS\d{7}2([0-9A-Z]{14})(\d{5})(\d{15})$/.exec(dpsId) ?? [];
  return companyId === '' ? undefined : { companyId, series: String(Number(series)), number: Number(number) };
};

/**
 * The company of a DPS id, and the invoice of the mode to which its number was allocated. The stream of numbers has every allocation, also that of
 * an attempt before the last, which no row can be found by. Undefined for text that is no DPS id.
 */
export const allocatedInvoice = async (
  dpsId: DpsId,
  mode: Mode,
  log: Pick<EventLog, 'read'>,
): Promise<{ companyId: CompanyId; invoiceId: InvoiceId | undefined } | undefined> => {
  const read = readDpsId(dpsId);
  if (read === undefined) return undefined;
  const { companyId, series, number } = read;
  return { companyId, invoiceId: await holderOf(number, dpsStream(mode, companyId, series), log) };
};

/** The next number only grows along the stream, so a binary search finds the number: about 20 reads among a million. */
const holderOf = async (
  number: number,
  stream: StreamName,
  log: Pick<EventLog, 'read'>,
): Promise<InvoiceId | undefined> => {
  const at = async (from: Revision): Promise<DpsNumberEvent | undefined> => {
    const [recorded] = await log.read(stream, { from, limit: 1 });
    return recorded === undefined ? undefined : (decodeSealed(recorded) as DpsNumberEvent);
  };
  const [newest] = await log.read(stream, { direction: 'backwards', limit: 1 });
  if (newest === undefined) return undefined;
  let [low, high] = [0, newest.revision];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const event = await at(middle);
    if (event !== undefined && event.data.nextNumber > number) high = middle;
    else low = middle + 1;
  }
  const found = await at(low);
  return found?.type === 'DpsNumberAllocated' && found.data.number === number ? found.data.invoiceId : undefined;
};

type SenderDeps = { log: Pick<EventLog, 'read'>; store: EventStore };

type Sender = Pick<LoadedInvoice, 'events'> & { stream: StreamName; state: Invoice };

/**
 * The invoice of this company and mode that has an attempt under the DPS id. Reads the log alone, so no row that lags hides an invoice whose outcome is
 * still unknown.
 */
export const senderUnder = async (
  dpsId: DpsId,
  { mode, companyId }: Caller,
  { log, store }: SenderDeps,
): Promise<Sender | undefined> => {
  const allocated = await allocatedInvoice(dpsId, mode, log);
  if (allocated?.invoiceId === undefined || allocated.companyId !== companyId) return undefined;
  const stream = invoiceStream(mode, companyId, allocated.invoiceId);
  const { state, events } = await loadInvoice(stream, store);
  if (state.kind !== 'invoice' || state.attempts.every((attempt) => attempt.dpsId !== dpsId)) return undefined;
  return { stream, state, events };
};

/** `sameContent`: the note has customer, amount and description of the invoice, so support can give it the note (see `isNoteMet`). */
type Standing = { stream: StreamName; invoice: Invoice; owner: Owner; sameContent: boolean };

/**
 * The invoice without an outcome one of whose DPS ids the note has, unless the note is certainly of another sale. `owner`: whether the note holds
 * what the invoice sent there. The look-ups of the invoice may have shown nothing until its time was over.
 */
export const standsUnder = async (
  note: Pick<AuthorizedNote, 'accessKey' | 'dpsId' | 'content'> & FoundDocument,
  caller: Caller,
  deps: SenderDeps,
): Promise<Standing | undefined> => {
  const sender = await senderUnder(note.dpsId, caller, deps);
  if (sender === undefined) return undefined;
  const { stream, state: invoice, events } = sender;
  const owner = compareNote(invoice, note);
  if (!isUnsettled(invoice) || (owner === 'other' && isOfAnotherSale(note, events))) return undefined;
  return { stream, invoice, owner, sameContent: owner !== 'unknown' && isNoteMet(note, events) };
};
