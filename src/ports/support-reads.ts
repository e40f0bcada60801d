import type { DpsId } from '../domain/common/access-key.js';
import type { CompanyId, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { InvoiceState } from '../domain/invoice/state.js';

/** Personal fields of `state` are sealed. */
export type SupportRow = { stream: StreamName; createdAt: Instant; state: InvoiceState };

/** The last row of a page; the next page begins after it. */
export type SupportCursor = Pick<SupportRow, 'createdAt' | 'stream'>;

/** Reads of invoice rows for support; no API route uses them. */
export type SupportReads = {
  /** The rows of those streams that have one, in no particular order. */
  invoices(streams: readonly StreamName[]): Promise<readonly SupportRow[]>;
  /** By the DPS id of the last attempt. */
  byDpsId(dpsId: DpsId): Promise<readonly StreamName[]>;
  /** Newest first, of the company or of all companies. */
  newest(
    from: { companyId?: CompanyId | undefined; before?: SupportCursor | undefined },
    limit: number,
  ): Promise<readonly SupportRow[]>;
  /** Invoices that wait for support, oldest first; `count` covers all of them. */
  indeterminate(limit: number): Promise<{ count: number; oldest: readonly SupportRow[] }>;
};
