import type pg from 'pg';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { SupportReads, SupportRow } from '../../ports/support-reads.js';
import { INDETERMINATE } from './support-watch.js';

type Row = { stream: string; created_at: string | null; state: string };

const rowOf = ({ stream, created_at: createdAt, state }: Row): SupportRow => ({
  ...{ stream, createdAt: createdAt ?? '', state: JSON.parse(state) as InvoiceState },
});

/** An operator's questions to the rows; some look at all of them, so only an operator may ask. */
export const createSupportReads = (db: pg.Pool): SupportReads => ({
  invoices: async (streams) => {
    const { rows } = await db.query<Row>(
      'select stream, created_at, state from read.invoices where stream = any ($1::text[])',
      [streams],
    );
    return rows.map(rowOf);
  },
  byDpsId: async (dpsId) => {
    const { rows } = await db.query<Pick<Row, 'stream'>>('select stream from read.invoices where dps_id = $1', [dpsId]);
    return rows.map(({ stream }) => stream);
  },
  newest: async ({ companyId, before }, limit) => {
    const { rows } = await db.query<Row>(
      `select stream, created_at, state from read.invoices
       where created_at is not null and ($1::text is null or company_id = $1)
         and ($2::text is null or (created_at, stream) < ($2, $3))
       order by created_at desc, stream desc limit $4`,
      [companyId ?? null, before?.createdAt ?? null, before?.stream ?? null, limit],
    );
    return rows.map(rowOf);
  },
  indeterminate: async (limit) => {
    const { rows } = await db.query<Row & { total: number }>(
      `select stream, created_at, state, count(*) over ()::int as total from read.invoices
       where ${INDETERMINATE} order by created_at limit $1`,
      [limit],
    );
    return { count: rows[0]?.total ?? 0, oldest: rows.map(rowOf) };
  },
});
