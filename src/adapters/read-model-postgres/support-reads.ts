import type pg from 'pg';
import type { InvoiceRow } from '../../../projections/invoices.js';
import type { Mode } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import { errorCode } from '../../lib/error-code.js';
import type { SupportReads, SupportRow } from '../../ports/support-reads.js';

type Row = Pick<InvoiceRow, 'stream' | 'created_at' | 'state'>;

const COLUMNS = 'stream, created_at, state';

const rowOf = ({ stream, created_at, state }: Row): SupportRow => ({
  stream,
  createdAt: created_at ?? '',
  state: JSON.parse(state) as InvoiceState,
});

/** Reads for operators. Each uses an index of the rows, but may return thousands of them, so API requests must not use them. */
export const createSupportReads = (db: pg.Pool): SupportReads => ({
  invoices: async (streams) => {
    const { rows } = await db.query<Row>(`select ${COLUMNS} from read.invoices where stream = any ($1::text[])`, [
      streams,
    ]);
    return rows.map(rowOf);
  },
  byDpsId: async (dpsId) => {
    const { rows } = await db.query<Pick<Row, 'stream'>>('select stream from read.invoices where dps_id = $1', [dpsId]);
    return rows.map(({ stream }) => stream);
  },
  newest: async ({ companyId, before }, limit) => {
    const bounds = [companyId, before?.createdAt, before?.stream];
    const values = bounds.filter((bound) => bound !== undefined);
    const next = companyId === undefined ? 1 : 2;
    const conditions = [
      'created_at is not null',
      ...(companyId === undefined ? [] : ['company_id = $1']),
      ...(before === undefined ? [] : [`(created_at, stream) < ($${next}, $${next + 1})`]),
    ];
    const { rows } = await db.query<Row>(
      `select ${COLUMNS} from read.invoices where ${conditions.join(' and ')}
       order by created_at desc, stream desc limit $${values.length + 1}`,
      [...values, limit],
    );
    return rows.map(rowOf);
  },
  indeterminate: async (limit) => {
    const rows = await indeterminateRows<Row>(db, COLUMNS, limit);
    return { count: rows[0]?.total ?? 0, oldest: rows.map(rowOf) };
  },
});

/** Invoices that wait for support, oldest first; `count` is of all of them. */
type IndeterminateInvoices = { count: number; oldest: readonly { invoiceId: string; mode: Mode }[] };

/** For an operator's command. */
export const indeterminateInvoices = async (db: pg.Pool, shown: number): Promise<IndeterminateInvoices> => {
  const rows = await indeterminateRows<Pick<InvoiceRow, 'invoice_id' | 'mode'>>(db, 'invoice_id, mode', shown);
  return {
    count: rows[0]?.total ?? 0,
    oldest: rows.map(({ invoice_id: invoiceId, mode }) => ({ invoiceId, mode })),
  };
};

const indeterminateRows = <R extends object>(
  db: pg.Pool,
  columns: string,
  limit: number,
): Promise<readonly (R & { total: number })[]> =>
  byColumnOrState(`status = 'indeterminate'`, `state::jsonb #>> '{outcome,status}' = 'indeterminate'`, (condition) =>
    db.query<R & { total: number }>(
      `select ${columns}, count(*) over ()::int as total from read.invoices where ${condition} order by created_at limit $1`,
      [limit],
    ),
  );

/** Cancellations that ended without a confirmation: all, those requested at or after an instant, and the newest. */
type UnconfirmedCancellations = {
  count: number;
  recent: number;
  newest: readonly { invoiceId: string; mode: Mode }[];
};

/** For an operator's command: it reads every row. Cancellations that the authorizer refused are not among them: these have its codes. */
export const unconfirmedCancellations = async (
  db: pg.Pool,
  since: Instant,
  shown: number,
): Promise<UnconfirmedCancellations> => {
  const rows = await byColumnOrState(
    `cancellation_status = 'failed'`,
    `state::jsonb #>> '{cancellation,status}' = 'failed'`,
    (condition) =>
      db.query<Pick<InvoiceRow, 'invoice_id' | 'mode'> & { count: number; recent: number }>(
        `select invoice_id, mode, count(*) over ()::int as count,
           (count(*) filter (where ${REQUESTED_AT} >= $1) over ())::int as recent
         from read.invoices where ${condition} and state::jsonb #> '{cancellation,codes}' = '[]'
         order by ${REQUESTED_AT} desc, stream limit $2`,
        [since, shown],
      ),
  );
  return {
    count: rows[0]?.count ?? 0,
    recent: rows[0]?.recent ?? 0,
    newest: rows.map(({ invoice_id: invoiceId, mode }) => ({ invoiceId, mode })),
  };
};

const REQUESTED_AT = `(state::jsonb #>> '{cancellation,requestedAt}')`;

/** Refusals of one kind of document with one of some codes: how many, and the newest. */
export type CodedRefusals = {
  mode: Mode;
  work: 'issue' | 'cancel';
  count: number;
  /** The codes asked for that occurred, in order. */
  codes: readonly string[];
  newest: string;
};

/**
 * What the authorizer has refused with one of these codes, for an operator's command: invoices that ended at or after `since`, and cancellations
 * that were requested then. `acceptedSince` bounds the invoices that are looked through: no outcome comes later than that after its acceptance.
 */
export const refusalsWith = async (
  db: pg.Pool,
  codes: readonly string[],
  { since, acceptedSince }: { since: Instant; acceptedSince: Instant },
): Promise<readonly CodedRefusals[]> => {
  const counted = (work: CodedRefusals['work'], end: string, codesOf: string) => (condition: string) =>
    db.query<CodedRefusals>(
      `select mode, $1 as work, count(distinct invoice_id)::int as count, array_agg(distinct code order by code) as codes,
         (array_agg(invoice_id order by ${end} desc))[1] as newest
       from read.invoices, jsonb_array_elements_text(state::jsonb #> '${codesOf}') as code
       where ${condition} and created_at >= $2 and ${end} >= $3 and code = any ($4::text[]) group by mode order by mode`,
      [work, work === 'issue' ? acceptedSince : '', since, codes],
    );
  return [
    ...(await byColumnOrState(
      `status = 'failed'`,
      `state::jsonb #>> '{outcome,status}' = 'failed'`,
      counted('issue', `(state::jsonb #>> '{outcome,failedAt}')`, '{outcome,codes}'),
    )),
    ...(await byColumnOrState(
      `cancellation_status = 'failed'`,
      `state::jsonb #>> '{cancellation,status}' = 'failed'`,
      counted('cancel', REQUESTED_AT, '{cancellation,codes}'),
    )),
  ];
};

/** Rows of version 2 lack the column. They are live until the projector of this program has built its own beside them. */
const byColumnOrState = async <R extends pg.QueryResultRow>(
  byColumn: string,
  byState: string,
  query: (condition: string) => Promise<pg.QueryResult<R>>,
): Promise<readonly R[]> => {
  try {
    return (await query(byColumn)).rows;
  } catch (error) {
    if (errorCode(error) !== UNDEFINED_COLUMN) throw error;
    return (await query(byState)).rows;
  }
};

const UNDEFINED_COLUMN = '42703';
