import type { Instant } from '../src/domain/common/time.js';
import type { InvoiceEvent } from '../src/domain/invoice/events.js';
import { perInvoiceStream, streamColumns, streamFields } from './invoice-streams.js';
import { boolean, defineProjection, type Handlers, type Recorded, type RowOf, text } from './types.js';

const columns = {
  ...streamColumns,
  work: text<'issue' | 'cancel' | null>(),
  /** Instant of the last event of this work. */
  work_since: text<Instant | null>(),
  /** An attempt exists. */
  started: boolean(),
  /** Issuing: the acceptance until the first attempt, then that attempt. Cancelling: the request. */
  began_at: text<Instant | null>(),
  /** `created_at` of a test invoice. */
  retention_since: text<Instant | null>(),
};

/** What a stream waits for: an outcome, the outcome of a cancellation, or the end of a test invoice. A stream without any has no row. */
export type DeadlineRow = RowOf<typeof columns>;

type Event = Recorded<InvoiceEvent>;
type Work = NonNullable<DeadlineRow['work']>;

/** A row without open work. */
const blank = (event: Event): DeadlineRow => ({ ...streamFields(event).fields, ...NO_WORK, retention_since: null });

const NO_WORK = { work: null, work_since: null, started: false, began_at: null } as const;

/** A test invoice ends when its retention is over. Live invoices are kept permanently. */
const born = (event: Event, createdAt: Instant | undefined): DeadlineRow => {
  const row = blank(event);
  return { ...row, retention_since: row.mode === 'test' ? (createdAt ?? null) : null };
};

const begun = (row: DeadlineRow, event: Event, work: Work, at: Instant): DeadlineRow => ({
  ...row,
  revision: event.revision,
  work,
  work_since: at,
  started: false,
  began_at: at,
});

/** An event of work that is no longer open changes nothing but the revision. */
const attempted = (row: DeadlineRow | undefined, event: Event, work: Work, at: Instant): DeadlineRow | 'delete' => {
  if (row?.work !== work) return untouched(row, event);
  const firstIssueAttempt = work === 'issue' && !row.started;
  const began_at = firstIssueAttempt ? at : row.began_at;
  return { ...row, revision: event.revision, work_since: at, started: true, began_at };
};

const answered = (row: DeadlineRow | undefined, event: Event, work: Work, at: Instant): DeadlineRow | 'delete' =>
  row?.work === work ? { ...row, revision: event.revision, work_since: at } : untouched(row, event);

const ended = (row: DeadlineRow | undefined, event: Event): DeadlineRow | 'delete' =>
  untouched(row === undefined ? undefined : { ...row, ...NO_WORK }, event);

const untouched = (row: DeadlineRow | undefined, { revision }: Event): DeadlineRow | 'delete' =>
  row === undefined || (row.work === null && row.retention_since === null) ? 'delete' : { ...row, revision };

export const handlers = {
  InvoiceAccepted: (_row, event) => begun(born(event, event.data.acceptedAt), event, 'issue', event.data.acceptedAt),
  InvoiceImported: (_row, event) => untouched(born(event, event.data.createdAt ?? event.data.importedAt), event),
  ReferenceTaken: 'ignored',
  IssuanceAttempted: (row, event) => attempted(row, event, 'issue', event.data.attemptedAt),
  IssuanceNotSent: (row, event) => answered(row, event, 'issue', event.data.at),
  IssuanceOutcomeUnknown: (row, event) => answered(row, event, 'issue', event.data.at),
  IssuanceProvenAbsent: (row, event) => answered(row, event, 'issue', event.data.at),
  NumberConflictFound: (row, event) => answered(row, event, 'issue', event.data.at),
  Authorized: ended,
  IssuanceRejected: ended,
  IssuanceFailed: ended,
  NotProcessed: ended,
  IssuanceInterrupted: ended,
  IndeterminateResolved: ended,
  CancellationRequested: (row, event) => begun(row ?? blank(event), event, 'cancel', event.data.requestedAt),
  CancellationAttempted: (row, event) => attempted(row, event, 'cancel', event.data.attemptedAt),
  CancellationNotSent: (row, event) => answered(row, event, 'cancel', event.data.at),
  CancellationOutcomeUnknown: (row, event) => answered(row, event, 'cancel', event.data.at),
  CancellationProvenAbsent: (row, event) => answered(row, event, 'cancel', event.data.at),
  CancellationConfirmed: ended,
  CancellationNotConfirmed: ended,
  CancellationSettledBySupport: ended,
  CancellationClosedBySupport: 'ignored',
  NoteCanceledElsewhere: ended,
  ReconciliationDifferenceFound: 'ignored',
  TestInvoiceDeleted: () => 'delete',
} satisfies Handlers<DeadlineRow, InvoiceEvent>;

/** Timers for the sweeper. A row exists while the stream has open work or a retention that ends. */
export const deadlines = defineProjection<DeadlineRow, InvoiceEvent>({
  name: 'deadlines',
  version: 3,
  compatibleFrom: 1,
  ...perInvoiceStream,
  columns,
  indexes: [
    { columns: ['work_since', 'stream'], sparse: true },
    { columns: ['retention_since'], sparse: true },
  ],
  handlers,
});
