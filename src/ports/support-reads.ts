import type { InvoiceState } from '../domain/invoice/state.js';
import type { CompanyId, StreamName } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';

/** Personal fields of `state` are sealed. */
export type SupportRow = { stream: StreamName; createdAt: Instant; state: InvoiceState };

/** The last row of a page: the next page begins behind it. */
export type SupportCursor = Pick<SupportRow, 'createdAt' | 'stream'>;

/** What support looks for in the rows of invoices; no route of the API asks this way. */
export type SupportReads = {
  /** Those of these streams that have a row, in no order. */
  invoices(streams: readonly StreamName[]): Promise<readonly SupportRow[]>;
  /** By the DPS id of the last attempt. */
  byDpsId(dpsId: string): Promise<readonly StreamName[]>;
  /** Newest first; looks at every row of the company, or of all, to find the newest. */
  newest(from: { companyId?: CompanyId; before?: SupportCursor }, limit: number): Promise<readonly SupportRow[]>;
  /** Invoices that wait for support, oldest first; `count` is of all of them. Looks at every row. */
  indeterminate(limit: number): Promise<{ count: number; oldest: readonly SupportRow[] }>;
};
