import type { Mode, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';

/** An invoice whose first look-up was absent; the absence is proven when a later look-up is absent too. */
export type FirstAbsence = { stream: StreamName; askedAt: Instant; questions: readonly string[] };

/** Progress of the reconciliation of one mode. */
export type ReconciliationProgress = {
  /** Counts up; each round picks another sample. */
  round: number;
  startedAt: Instant;
  /** Set after the last page; the next round begins later. */
  endedAt?: Instant;
  /** The last invoice of this round that was handled; null at its beginning. */
  after: StreamName | null;
  firstAbsences: readonly FirstAbsence[];
  /** Inconclusive look-ups in a row, about the invoice after `after`. */
  tries: number;
};

/** `isSampled`: an issued invoice whose cancellation did not fail, so that a sample suffices. */
export type ReconciledInvoice = { stream: StreamName; createdAt: Instant | undefined; isSampled: boolean };

/** The cursor and the list of invoices, both in the database. Neither decides anything: what is compared is the log. */
export type ReconciliationProgressStore = {
  read(mode: Mode): Promise<ReconciliationProgress | undefined>;
  save(mode: Mode, cursor: ReconciliationProgress): Promise<void>;
  /** Invoices of the mode in the order of their streams, beginning after `after`. */
  page(mode: Mode, after: StreamName | null, limit: number): Promise<readonly ReconciledInvoice[]>;
};
