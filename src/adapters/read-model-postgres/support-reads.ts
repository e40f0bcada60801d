import type pg from 'pg';
import type { InvoiceRow } from '../../../projections/invoices.js';
import type { Mode, StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import { errorCode } from '../../lib/error-code.js';
import {
  InvoiceRowsUnreadable,
  type SupportFilter,
  type SupportReads,
  type SupportRow,
  type WaitingCounts,
} from '../../ports/support-reads.js';

type Row = Pick<InvoiceRow, 'stream' | 'created_at' | 'state'>;

const COLUMNS = 'stream, created_at, state';

const rowOf = ({ stream, created_at, state }: Row): SupportRow => ({
  stream,
  createdAt: created_at ?? '',
  state: JSON.parse(state) as InvoiceState,
});

const query = async <R extends pg.QueryResultRow>(
  db: pg.Pool,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly R[]> => {
  try {
    return (await db.query<R>(text, [...values])).rows;
  } catch (error) {
    throw errorCode(error) === UNDEFINED_COLUMN ? new InvoiceRowsUnreadable(error) : error;
  }
};

const UNDEFINED_COLUMN = '42703';

type Bound = readonly [condition: string, values: readonly (string | undefined)[]];

/** Leaves out each bound without a value; `?` takes the next value. */
const newestWhere = async (
  db: pg.Pool,
  { always, bounds, order }: { always: string; bounds: readonly Bound[]; order: string },
  limit: number,
): Promise<readonly SupportRow[]> => {
  const asked = bounds.filter(([, values]) => values.every((value) => value !== undefined));
  const values = asked.flatMap(([, bound]) => bound);
  let place = 0;
  const conditions = [always, ...asked.map(([condition]) => condition)]
    .join(' and ')
    .replaceAll('?', () => `$${++place}`);
  const rows = await query<Row>(
    db,
    `select ${COLUMNS} from read.invoices where ${conditions} order by ${order} limit $${values.length + 1}`,
    [...values, limit],
  );
  return rows.map(rowOf);
};

const boundsOf = ({ companyId, mode, status, cancellation }: SupportFilter): readonly Bound[] => [
  ['company_id = ?', [companyId]],
  ['mode = ?', [mode]],
  ['status = ?', [status]],
  ['cancellation_status = ?', [cancellation]],
];

const newestDated = (db: pg.Pool, filter: SupportFilter, limit: number): Promise<readonly SupportRow[]> => {
  const { since, until, before } = filter;
  const bounds: readonly Bound[] = [
    ...boundsOf(filter),
    ['created_at >= ?', [since]],
    ['created_at < ?', [until]],
    ['(created_at, stream) < (?, ?)', [before?.createdAt, before?.stream]],
  ];
  return newestWhere(db, { always: 'created_at is not null', bounds, order: 'created_at desc, stream desc' }, limit);
};

/** Imported invoices without the instant at which they were made. Rows that are no invoices have no status. */
const newestUndated = (
  db: pg.Pool,
  filter: SupportFilter,
  after: StreamName | undefined,
  limit: number,
): Promise<readonly SupportRow[]> => {
  const bounds: readonly Bound[] = [...boundsOf(filter), ['stream < ?', [after]]];
  const always = 'created_at is null and status is not null';
  return newestWhere(db, { always, bounds, order: 'stream desc' }, limit);
};

/** How many invoices fulfil the condition, and the first of them in this order. */
const oldestOf = async (db: pg.Pool, condition: string, order: string, limit: number) => {
  const rows = await query<Row & { total: number }>(
    db,
    `select ${COLUMNS}, count(*) over ()::int as total from read.invoices where ${condition} order by ${order} limit $1`,
    [limit],
  );
  return { count: rows[0]?.total ?? 0, oldest: rows.map(rowOf) };
};

/** Reads for operators. Each uses an index of the rows, but may return thousands of them, so API requests must not use them. */
export const createSupportReads = (db: pg.Pool): SupportReads => ({
  invoices: async (streams) => {
    const rows = await query<Row>(db, `select ${COLUMNS} from read.invoices where stream = any ($1::text[])`, [
      streams,
    ]);
    return rows.map(rowOf);
  },
  byDpsId: async (dpsId) => {
    const rows = await query<Pick<Row, 'stream'>>(db, 'select stream from read.invoices where dps_id = $1', [dpsId]);
    return rows.map(({ stream }) => stream);
  },
  byKeyBegins: async (begins) => {
    // What follows the number are digits, so that the bounds hold in every collation.
    const text = 'select stream from read.invoices where access_key between $1 and $2';
    const found = await Promise.all(
      begins.map((one) => query<Pick<Row, 'stream'>>(db, text, [one.padEnd(50, '0'), one.padEnd(50, '9')])),
    );
    return found.flat().map(({ stream }) => stream);
  },
  newest: async ({ since, until, before, ...which }, limit) => {
    const isUndated = before?.createdAt === '';
    const dated = isUndated ? [] : await newestDated(db, { since, until, before, ...which }, limit);
    if (dated.length === limit || since !== undefined || until !== undefined) return dated;
    const after = isUndated ? before.stream : undefined;
    return [...dated, ...(await newestUndated(db, which, after, limit - dated.length))];
  },
  indeterminate: (limit) => oldestOf(db, IS_INDETERMINATE, 'created_at', limit),
  failedCancellations: (limit) => oldestOf(db, IS_CANCELLATION_OPEN, `${REQUESTED_AT}, stream`, limit),
  waitingCounts: async (most) => {
    const countOf = (condition: string): string =>
      `(select count(*)::int from (select 1 from read.invoices where ${condition} limit $1) counted)`;
    const [counts] = await query<WaitingCounts>(
      db,
      `select ${countOf(IS_INDETERMINATE)} as indeterminate,
              ${countOf(IS_CANCELLATION_OPEN)} as "failedCancellations"`,
      [most],
    );
    return counts ?? { indeterminate: 0, failedCancellations: 0 };
  },
});

const IS_INDETERMINATE = `status = 'indeterminate'`;
const IS_CANCELLATION_FAILED = `cancellation_status = 'failed'`;

/** Failed in live mode, and not closed by support. */
const IS_CANCELLATION_OPEN = `${IS_CANCELLATION_FAILED} and mode = 'live' and state::jsonb #> '{cancellation,closedAt}' is null`;

/** Imported notes may be newer than the newest note that this service issued. */
const NOTES_LOOKED_AT = 50;

/**
 * Streams of issued live invoices that were not imported, newest first; only those among the newest live ones. A start asks before the projector has
 * replaced rows of a version before 3, which have no column `status`.
 */
export const recentLiveNotes = async (db: pg.Pool): Promise<readonly StreamName[]> => {
  const streamsWhere = async (isIssued: string): Promise<readonly StreamName[]> => {
    const { rows } = await db.query<Pick<Row, 'stream'>>(
      `select stream from (select stream, created_at, state from read.invoices
         where mode = 'live' and created_at is not null and ${isIssued}
         order by created_at desc, stream desc limit ${NOTES_LOOKED_AT}) newest
       where state::jsonb #>> '{origin,kind}' = 'api' order by created_at desc, stream desc`,
    );
    return rows.map(({ stream }) => stream);
  };
  try {
    return await streamsWhere(`status = 'issued'`);
  } catch (error) {
    if (errorCode(error) !== UNDEFINED_COLUMN) throw error;
    return await streamsWhere(`state::jsonb #>> '{outcome,status}' = 'issued'`);
  }
};

/** Work that waits for a person, by what it is. */
export type Unsettled = {
  mode: Mode;
  kind: 'indeterminate' | 'cancellation_refused' | 'cancellation_unconfirmed';
  count: number;
  oldest: Instant;
};

/**
 * Everything that waits for a person in the rows of the invoices; a refused cancellation has codes of the authorizer. Throws
 * `InvoiceRowsUnreadable`.
 */
export const unsettledWork = async (db: pg.Pool): Promise<readonly Unsettled[]> => {
  const indeterminate = await query<Unsettled>(
    db,
    `select mode, 'indeterminate' as kind, count(*)::int as count, min(state::jsonb #>> '{outcome,failedAt}') as oldest
     from read.invoices where ${IS_INDETERMINATE} group by mode order by mode`,
  );
  const cancellations = await query<Unsettled>(
    db,
    `select mode, case when state::jsonb #> '{cancellation,codes}' = '[]' then 'cancellation_unconfirmed'
         else 'cancellation_refused' end as kind, count(*)::int as count, min(${REQUESTED_AT}) as oldest
     from read.invoices where ${IS_CANCELLATION_OPEN} group by 1, 2 order by 1, 2`,
  );
  return [...indeterminate, ...cancellations];
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
  const counted = async (
    work: CodedRefusals['work'],
    { condition, end, codesOf }: { condition: string; end: string; codesOf: string },
  ): Promise<readonly CodedRefusals[]> => {
    const rows = await query<CodedRefusals>(
      db,
      `select mode, $1 as work, count(distinct invoice_id)::int as count, array_agg(distinct code order by code) as codes,
         (array_agg(invoice_id order by ${end} desc))[1] as newest
       from read.invoices, jsonb_array_elements_text(state::jsonb #> '${codesOf}') as code
       where ${condition} and created_at >= $2 and ${end} >= $3 and code = any ($4::text[]) group by mode order by mode`,
      [work, work === 'issue' ? acceptedSince : '', since, codes],
    );
    return rows;
  };
  const failedAt = `(state::jsonb #>> '{outcome,failedAt}')`;
  return [
    ...(await counted('issue', { condition: `status = 'failed'`, end: failedAt, codesOf: '{outcome,codes}' })),
    ...(await counted('cancel', {
      condition: IS_CANCELLATION_FAILED,
      end: REQUESTED_AT,
      codesOf: '{cancellation,codes}',
    })),
  ];
};
