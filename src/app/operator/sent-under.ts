import type { DpsId } from '../../domain/common/access-key.js';
import { invoiceStream, type StreamName } from '../../domain/common/ids.js';
import type { FoundDocument } from '../../domain/invoice/sent-document.js';
import { type Invoice, isUnsettled } from '../../domain/invoice/state.js';
import type { AuthorizedNote, Caller } from '../../ports/authorizer.js';
import type { EventLog } from '../../ports/event-log.js';
import type { EventStore } from '../event-store/event-store.js';
import { compareNote, isNoteMet, isOfAnotherSale } from '../issuing/found-documents.js';
import { type LoadedInvoice, loadInvoice } from '../read/read-invoice.js';
import { allocatedInvoice } from './allocated-invoice.js';

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
export type Standing = { stream: StreamName; invoice: Invoice; owner: Owner; sameContent: boolean };

type Owner = ReturnType<typeof compareNote>;

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
