import type pg from 'pg';
import type { Mode } from '../../domain/shared/ids.js';

/** Invoices that wait for support, oldest first; `count` is of all of them. */
export type IndeterminateInvoices = { count: number; oldest: readonly { invoiceId: string; mode: Mode }[] };

/**
 * The key and its value stand together in a folded state only as an outcome: text of others is sealed, and its quotes are
 * escaped.
 */
export const INDETERMINATE = `state like '%"outcome":{"status":"indeterminate"%'`;

/** Looks at every row, so only an operator's command asks. */
export const indeterminateInvoices = async (db: pg.Pool, shown: number): Promise<IndeterminateInvoices> => {
  const { rows } = await db.query<{ invoice_id: string; mode: Mode; total: number }>(
    `select invoice_id, mode, count(*) over ()::int as total from read.invoices
     where ${INDETERMINATE} order by created_at limit $1`,
    [shown],
  );
  return {
    count: rows[0]?.total ?? 0,
    oldest: rows.map(({ invoice_id: invoiceId, mode }) => ({ invoiceId, mode })),
  };
};
