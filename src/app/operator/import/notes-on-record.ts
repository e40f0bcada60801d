import type { DpsId } from '../../../domain/common/access-key.js';
import {
  type CompanyId,
  type InvoiceId,
  invoicePrefix,
  invoiceStream,
  type Mode,
  type StreamName,
} from '../../../domain/common/ids.js';
import type { Cents } from '../../../domain/common/money.js';
import type { Instant } from '../../../domain/common/time.js';
import type { InvoiceState, IssueAttempt } from '../../../domain/invoice/state.js';
import { type EventLog, isEarlier, type LogPosition, type RecordedEvent } from '../../../ports/event-log.js';
import type { ReadModel } from '../../../ports/read-model.js';
import type { SupportCursor, SupportReads } from '../../../ports/support-reads.js';
import { isEndOfTestInvoice } from '../../audit/chain.js';
import type { EventStore } from '../../event-store/event-store.js';
import { walkLog } from '../../event-store/walk-log.js';
import { loadSealedInvoice } from '../../read/read-invoice.js';
import { allocatedInvoice } from '../allocated-invoice.js';

export type KeyHoldersDeps = {
  log: Pick<EventLog, 'readAll' | 'head'>;
  readModel: Pick<ReadModel, 'byAccessKeys'>;
  /** Position of the log up to which the rows of invoices are made. */
  invoiceRowsUpTo(): Promise<LogPosition | null>;
};

const KEYS_AT_ONCE = 500;

type KeyHolder = { accessKey: string; stream: StreamName };

/** The invoices that hold these access keys: by the rows, and by the events that the rows do not hold yet. */
export const holdersOfKeys = async (
  accessKeys: readonly string[],
  { log, readModel, invoiceRowsUpTo }: KeyHoldersDeps,
): Promise<readonly KeyHolder[]> => {
  if (accessKeys.length === 0) return [];
  const holders: KeyHolder[] = [];
  // The position is read before the rows, which may be further by then.
  const rowsUpTo = await invoiceRowsUpTo();
  for (let start = 0; start < accessKeys.length; start += KEYS_AT_ONCE) {
    holders.push(...(await readModel.byAccessKeys(accessKeys.slice(start, start + KEYS_AT_ONCE))));
  }
  const wanted = new Set(accessKeys);
  // Rows past the end of the log are of another end of it, so they say nothing of what this log holds.
  const after = isEarlier(await log.head(), rowsUpTo) ? null : rowsUpTo;
  const ended = new Set<StreamName>();
  for await (const page of walkLog(log, [invoicePrefix.live, invoicePrefix.test], after)) {
    for (const event of page) {
      const accessKey = keyRecordedBy(event);
      if (accessKey !== undefined && wanted.has(accessKey)) holders.push({ accessKey, stream: event.stream });
      if (isEndOfTestInvoice(event)) ended.add(event.stream);
    }
  }
  return holders.filter(({ stream }) => !ended.has(stream));
};

const RECORD_A_NOTE: readonly string[] = ['Authorized', 'IndeterminateResolved', 'InvoiceImported'];

/** Read without decoding: an event that this program cannot read is no reason to refuse a file. */
const keyRecordedBy = ({ type, data: { accessKey } }: RecordedEvent): string | undefined =>
  RECORD_A_NOTE.includes(type) && typeof accessKey === 'string' ? accessKey : undefined;

type DpsOwnerDeps = { log: Pick<EventLog, 'read'>; store: EventStore };

/**
 * The invoice of this company and mode to which the note under a DPS id belongs: one that was sent under it, has not failed and has met no foreign
 * note there. Reads the log alone, so no row that lags hides an invoice whose outcome is still unknown.
 */
export const ownerOfDps = async (
  dpsId: DpsId,
  mode: Mode,
  companyId: CompanyId,
  { log, store }: DpsOwnerDeps,
): Promise<InvoiceId | undefined> => {
  const allocated = await allocatedInvoice(dpsId, mode, log);
  if (allocated?.invoiceId === undefined || allocated.companyId !== companyId) return undefined;
  const { invoiceId } = allocated;
  const { state } = await loadSealedInvoice(invoiceStream(mode, companyId, invoiceId), store);
  if (state.kind !== 'invoice' || state.outcome.status === 'failed') return undefined;
  const under = state.attempts.filter((attempt) => attempt.dpsId === dpsId);
  return under.some(mayHaveMadeNote) && !under.some(isForeign) ? invoiceId : undefined;
};

export type UnsettledDeps = { supportReads: Pick<SupportReads, 'newest'>; store: EventStore };

/** A live invoice that was sent and whose outcome is unknown. */
type Unsettled = { invoiceId: InvoiceId; amountInCents: Cents; firstSentAt: Instant };

const PAGE = 500;
const MAY_BE_UNSETTLED = ['queued', 'processing', 'indeterminate'] as const;

/** The unsettled live invoices of a company with one of these amounts. Rows name the candidates, the log decides. */
export const unsettledInvoices = async (
  companyId: CompanyId,
  amounts: ReadonlySet<Cents>,
  deps: UnsettledDeps,
): Promise<readonly Unsettled[]> => {
  const unsettled: Unsettled[] = [];
  for (const status of MAY_BE_UNSETTLED) {
    let before: SupportCursor | undefined;
    do {
      const rows = await deps.supportReads.newest({ companyId, mode: 'live', status, before }, PAGE);
      for (const { stream, state } of rows) {
        if (state.kind !== 'invoice' || !amounts.has(state.facts.amountInCents)) continue;
        const found = unsettledOf((await loadSealedInvoice(stream, deps.store)).state);
        if (found !== undefined) unsettled.push(found);
      }
      before = rows.length < PAGE ? undefined : rows.at(-1);
    } while (before !== undefined);
  }
  return unsettled;
};

const unsettledOf = (state: InvoiceState): Unsettled | undefined => {
  if (state.kind !== 'invoice' || !['open', 'indeterminate'].includes(state.outcome.status)) return undefined;
  const sent = state.attempts.find((attempt) => mayHaveMadeNote(attempt) && !isForeign(attempt));
  const { invoiceId, amountInCents } = state.facts;
  return sent && { invoiceId, amountInCents, firstSentAt: sent.attemptedAt };
};

const isForeign = ({ resolution }: IssueAttempt): boolean => resolution === 'foreign';

const mayHaveMadeNote = ({ resolution }: IssueAttempt): boolean => resolution !== 'not_sent';
