import type { AccessKey } from '../domain/common/access-key.js';
import type { CompanyId, Mode, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { Caller } from './authorizer.js';

/**
 * The documents that follow a number in a company's queue. `last`: the number of the last one; `canceled`: keys of the notes that events among them
 * may cancel. `end`: the queue holds no later document.
 */
export type DistributionAnswer =
  | { kind: 'documents'; last: number; canceled: readonly AccessKey[] }
  | { kind: 'end' }
  | { kind: 'inconclusive'; reason: string };

/** The queue of documents that the ADN keeps for each company (docs/national-system.md#distribution). */
export type Distribution = {
  /** `nsu`: the number of the last document that was read, 0 for the whole queue. Never rejects. */
  after(caller: Caller, nsu: number): Promise<DistributionAnswer>;
};

/** How far the queue of a company was read. */
export type DistributionProgress = {
  nsu: number;
  /** When the queue is asked again. */
  queueDueAt: Instant;
  /** When something is due: the queue, or the first of the waiting invoices. */
  dueAt: Instant;
  /** When the queue was asked for the last time. */
  askedAt: Instant;
  /** When its end was seen; absent until then. */
  endSeenAt?: Instant;
  /** Why the last answer proved nothing. */
  reason?: string;
  /** Answers in a row that proved nothing. */
  failures?: number;
  /** Notes of the company that an event may have canceled, and that no invoice was known to have. */
  unmatchedNotes?: readonly UnmatchedNote[];
  /** Invoices that an event may have canceled, and that are still to be compared. */
  waiting: readonly WaitingInvoice[];
};

/** `tries`: comparisons in a row that showed no event. `dueAt`: when the invoice is compared. */
export type WaitingInvoice = { stream: StreamName; tries: number; dueAt: Instant };

/** `seenAt`: when the event was read. */
export type UnmatchedNote = { accessKey: AccessKey; seenAt: Instant };

export type DueQueue = { companyId: CompanyId; progress: DistributionProgress | undefined };

/** In the database. Losing it costs reading the queues again. */
export type DistributionProgressStore = {
  all(mode: Mode): Promise<ReadonlyMap<CompanyId, DistributionProgress>>;
  /**
   * The enabled company that is due the longest; one whose queue was never asked has no progress and goes first. A time after `furthest` is from before
   * the clock was set back, and is due too.
   */
  due(mode: Mode, now: Instant, furthest: Instant): Promise<DueQueue | undefined>;
  /** Of the enabled companies: how many queues were never asked, and when the one was asked that was asked longest ago; absent when none was. */
  oldestReading(mode: Mode): Promise<{ neverAsked: number; askedAt?: Instant }>;
  save(caller: Caller, progress: DistributionProgress): Promise<void>;
};
