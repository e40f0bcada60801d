import { type CompanyId, invoicePrefix, type StreamName } from '../../../domain/common/ids.js';
import type { Cents } from '../../../domain/common/money.js';
import type { Instant } from '../../../domain/common/time.js';
import { compareSent, type FoundDocument } from '../../../domain/invoice/sent-document.js';
import { type Invoice, type InvoiceFacts, type IssueAttempt, isUnsettled } from '../../../domain/invoice/state.js';
import type { InvoiceStatus } from '../../../domain/invoice/status.js';
import { inGroups } from '../../../lib/in-groups.js';
import type { Caller } from '../../../ports/authorizer.js';
import { type EventLog, isEarlier, type LogPosition, type RecordedEvent } from '../../../ports/event-log.js';
import type { KeyHolder, ReadModel } from '../../../ports/read-model.js';
import type { SupportCursor, SupportFilter, SupportReads } from '../../../ports/support-reads.js';
import { isEndOfTestInvoice } from '../../audit/chain.js';
import type { EventStore } from '../../event-store/event-store.js';
import { walkLog } from '../../event-store/walk-log.js';
import { contradictsAcceptance } from '../../issuing/found-documents.js';
import { type LoadedInvoice, loadSealedInvoice } from '../../read/read-invoice.js';
import { senderUnder } from '../sent-under.js';
import type { EmbeddedDps } from './import-line.js';

export type KeyHoldersDeps = {
  log: Pick<EventLog, 'readAll' | 'head'>;
  store: EventStore;
  readModel: Pick<ReadModel, 'byAccessKeys'>;
  /** Position of the log up to which the rows of invoices are made. */
  invoiceRowsUpTo(): Promise<LogPosition | null>;
};

const KEYS_AT_ONCE = 500;
const ROWS_AT_ONCE = 16;

/**
 * The invoices that hold these access keys: by the rows, and by the events that the rows do not hold yet. After a loss of the log rows may show invoices
 * of its lost end. Such an invoice holds no key, else the note could not be given to the invoice of the repeated request.
 */
export const holdersOfKeys = async (
  accessKeys: readonly string[],
  { log, store, readModel, invoiceRowsUpTo }: KeyHoldersDeps,
): Promise<readonly KeyHolder[]> => {
  if (accessKeys.length === 0) return [];
  const holders: KeyHolder[] = [];
  // The position is read before the rows, which may be further by then.
  const rowsUpTo = await invoiceRowsUpTo();
  for (let start = 0; start < accessKeys.length; start += KEYS_AT_ONCE) {
    const rows = await readModel.byAccessKeys(accessKeys.slice(start, start + KEYS_AT_ONCE));
    holders.push(...(await inGroups(ROWS_AT_ONCE, rows, (row) => ofThisLog(row, store))).flat());
  }
  const wanted = new Set(accessKeys);
  const ended = new Set<StreamName>();
  for await (const event of eventsPastRows(rowsUpTo, log)) {
    const accessKey = keyRecordedBy(event);
    if (accessKey !== undefined && wanted.has(accessKey)) holders.push({ accessKey, stream: event.stream });
    if (isEndOfTestInvoice(event)) ended.add(event.stream);
  }
  return holders.filter(({ stream }) => !ended.has(stream));
};

/** The events of invoices that their rows do not hold yet. `rowsUpTo` was read before the rows. */
export async function* eventsPastRows(
  rowsUpTo: LogPosition | null,
  log: KeyHoldersDeps['log'],
): AsyncGenerator<RecordedEvent> {
  // Rows past the end of the log are of another end of it, so they say nothing of what this log holds.
  const after = isEarlier(await log.head(), rowsUpTo) ? null : rowsUpTo;
  for await (const page of walkLog(log, [invoicePrefix.live, invoicePrefix.test], after)) yield* page;
}

const ofThisLog = async (row: KeyHolder, store: EventStore): Promise<readonly KeyHolder[]> =>
  (await loadSealedInvoice(row.stream, store)).state.kind === 'none' ? [] : [row];

const RECORD_A_NOTE: readonly string[] = ['Authorized', 'IndeterminateResolved', 'InvoiceImported'];

/** Read without decoding: an event that this program cannot read is no reason to refuse a file. */
const keyRecordedBy = ({ type, data: { accessKey } }: RecordedEvent): string | undefined =>
  RECORD_A_NOTE.includes(type) && typeof accessKey === 'string' ? accessKey : undefined;

/**
 * The invoice of this company and mode to which the note around a DPS belongs: one that was sent under its id, has not failed and has met no foreign
 * note there. After a loss of the log a number may be given again, so an invoice that has certainly sent another DPS under the id is no owner, and
 * neither is one that was never sent under it where the DPS names another amount or customer. Reads the log alone, so no row that lags hides an invoice
 * whose outcome is still unknown.
 */
export const ownerOfDps = async (
  dps: Pick<EmbeddedDps, 'dpsId' | 'content'> & FoundDocument,
  caller: Caller,
  deps: Parameters<typeof senderUnder>[2],
): Promise<Invoice | undefined> => {
  const sender = await senderUnder(dps.dpsId, caller, deps);
  if (sender === undefined || sender.state.outcome.status === 'failed') return undefined;
  const { state, events } = sender;
  const under = state.attempts.filter(({ dpsId }) => dpsId === dps.dpsId);
  const wasSent = under.some(mayHaveMadeNote);
  // A number whose attempts were not sent may have a document of an attempt that the log has lost. The next send finds that document.
  const mayHaveNote = wasSent || isUnsettled(state);
  const owner = compareSent(under, dps);
  // The id alone makes no note that of the invoice: another program may use the series, and sign in a way that is not compared.
  const isByIdAlone = !wasSent && owner === 'unknown' && contradictsAcceptance(dps, events);
  const isOwner = mayHaveNote && !under.some(isForeign) && owner !== 'other' && !isByIdAlone;
  return isOwner ? state : undefined;
};

export type UnsettledDeps = { supportReads: Pick<SupportReads, 'newest'>; store: EventStore };

/** A live invoice that was sent and whose outcome is unknown. `met`: access keys of the notes of others that a look-up has shown under its numbers. */
export type Unsettled = Pick<InvoiceFacts, 'invoiceId' | 'amountInCents'> & {
  firstSentAt: Instant;
  isIndeterminate: boolean;
  met: readonly string[];
};

const PAGE = 500;
const MAY_BE_UNSETTLED = ['queued', 'processing', 'indeterminate'] as const;

/** The unsettled live invoices of a company with one of these amounts. Rows name the candidates, the log decides. */
export const unsettledInvoices = async (
  companyId: CompanyId,
  amounts: ReadonlySet<Cents>,
  deps: UnsettledDeps,
): Promise<readonly Unsettled[]> => {
  const unsettled: Unsettled[] = [];
  for await (const { stream, invoice } of rowsOf({ companyId, mode: 'live' }, MAY_BE_UNSETTLED, deps)) {
    if (!amounts.has(invoice.facts.amountInCents)) continue;
    const found = unsettledOf(await loadSealedInvoice(stream, deps.store));
    if (found !== undefined) unsettled.push(found);
  }
  return unsettled;
};

/** The invoices that rows show with one of these statuses. */
export async function* rowsOf(
  filter: Pick<SupportFilter, 'companyId' | 'mode'>,
  statuses: readonly InvoiceStatus[],
  { supportReads }: UnsettledDeps,
): AsyncGenerator<{ stream: StreamName; invoice: Invoice }> {
  for (const status of statuses) {
    let before: SupportCursor | undefined;
    do {
      const rows = await supportReads.newest({ ...filter, status, before }, PAGE);
      for (const { stream, state } of rows) if (state.kind === 'invoice') yield { stream, invoice: state };
      before = rows.length < PAGE ? undefined : rows.at(-1);
    } while (before !== undefined);
  }
}

const unsettledOf = ({ state, events }: LoadedInvoice): Unsettled | undefined => {
  if (state.kind !== 'invoice' || !isUnsettled(state)) return undefined;
  const { invoiceId, amountInCents } = state.facts;
  const isIndeterminate = state.outcome.status === 'indeterminate';
  // An invoice is indeterminate after attempts that were not sent only because a look-up showed a document under their DPS id.
  const own = state.attempts.filter((attempt) => !isForeign(attempt));
  const sent = own.find(mayHaveMadeNote) ?? (isIndeterminate ? own[0] : undefined);
  const met = events.flatMap(({ type, data }) => (type === 'NumberConflictFound' ? [data.accessKey] : []));
  return sent && { invoiceId, amountInCents, firstSentAt: sent.attemptedAt, isIndeterminate, met };
};

/** Whether the attempt met the note of another party under its number. */
export const isForeign = ({ resolution }: IssueAttempt): boolean => resolution === 'foreign';

const mayHaveMadeNote = ({ resolution }: IssueAttempt): boolean => resolution !== 'not_sent';
