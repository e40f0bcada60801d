import type { DpsId } from '../domain/common/access-key.js';
import type { CompanyId, Mode, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { Cancellation, InvoiceState } from '../domain/invoice/state.js';
import type { InvoiceStatus } from '../domain/invoice/status.js';

/** Personal fields of `state` are sealed. `createdAt` is empty for an invoice that was imported without it. */
export type SupportRow = { stream: StreamName; createdAt: Instant; state: InvoiceState };

/** The last row of a page; the next page begins after it. */
export type SupportCursor = Pick<SupportRow, 'createdAt' | 'stream'>;

/** Which invoices a list shows; all of them without a filter. */
export type SupportFilter = {
  companyId?: CompanyId | undefined;
  mode?: Mode | undefined;
  status?: InvoiceStatus | undefined;
  cancellation?: Cancellation['status'] | undefined;
  /** Created at or after this instant. */
  since?: Instant | undefined;
  /** Created before this instant. */
  until?: Instant | undefined;
  before?: SupportCursor | undefined;
};

/** The invoice rows are of a version that lacks what was asked for, as while an upgrade makes them again. The message is for a person. */
export class InvoiceRowsUnreadable extends Error {
  override readonly name = 'InvoiceRowsUnreadable';
  constructor(cause: unknown) {
    super(
      'the rows of projection invoices are of a version that this program cannot read: nfse projections status shows how far the new rows are; try again once they are live',
      { cause },
    );
  }
}

export type WaitingCounts = { indeterminate: number; failedCancellations: number };

/** Reads of invoice rows for support; no API route uses them. Each throws `InvoiceRowsUnreadable`. */
export type SupportReads = {
  /** The rows of those streams that have one, in no particular order. */
  invoices(streams: readonly StreamName[]): Promise<readonly SupportRow[]>;
  /** By the DPS id of the last attempt. */
  byDpsId(dpsId: DpsId): Promise<readonly StreamName[]>;
  /** Invoices whose access key begins with one of these texts of at least 36 characters, which end with the number of the note. */
  byKeyBegins(begins: readonly string[]): Promise<readonly StreamName[]>;
  /** Newest first; without `since` and `until`, those that were imported without `createdAt` follow. */
  newest(filter: SupportFilter, limit: number): Promise<readonly SupportRow[]>;
  /** Invoices that wait for support, oldest first; `count` covers all of them. */
  indeterminate(limit: number): Promise<{ count: number; oldest: readonly SupportRow[] }>;
  /** Live cancellations that failed and that support has not closed, the oldest request first; `count` covers all of them. */
  failedCancellations(limit: number): Promise<{ count: number; oldest: readonly SupportRow[] }>;
  /** How many of both wait, each counted up to `most`. */
  waitingCounts(most: number): Promise<WaitingCounts>;
};
