import type { Mode, StreamName } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';

/** An absence heard once: it counts when it is heard again, later. */
export type AwaitedAbsence = { stream: StreamName; heardAt: Instant; questions: readonly string[] };

/** Where the walk of one mode stands. */
export type Walk = {
  /** Counts up; picks another sample each time. */
  round: number;
  startedAt: Instant;
  /** Set when the last page was seen; the next round begins later. */
  endedAt?: Instant;
  /** The last invoice that was dealt with; null: none of this round. */
  after: StreamName | null;
  awaited: readonly AwaitedAbsence[];
  /** Answers in a row that proved nothing, about the invoice behind `after`. */
  tries: number;
};

export type WalkedInvoice = { stream: StreamName; createdAt: Instant | undefined; isIssued: boolean };

/** The walk's place and its list, both in R; neither decides anything: what is compared is the log. */
export type Walks = {
  read(mode: Mode): Promise<Walk | undefined>;
  save(mode: Mode, walk: Walk): Promise<void>;
  /** Invoices of the mode in the order of their streams, behind `after`. */
  page(mode: Mode, after: StreamName | null, limit: number): Promise<readonly WalkedInvoice[]>;
};
