import type pg from 'pg';
import { invoicePrefix } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { FirstAbsence, ReconciliationProgress, ReconciliationProgressStore } from '../../ports/reconciliation.js';

/** The cursors of the reconciliation. Needs the migration `reconciliation` and the projection `invoices`, whose key gives the order. */
export const createReconciliationProgressStore = (db: pg.Pool): ReconciliationProgressStore => ({
  read: async (mode) => {
    const { rows } = await db.query<{ walk: string }>('select walk from reconciliation_walks where mode = $1', [mode]);
    return rows[0] === undefined ? undefined : fromStored(JSON.parse(rows[0].walk));
  },
  save: async (mode, cursor) => {
    await db.query(
      `insert into reconciliation_walks (mode, walk) values ($1, $2)
       on conflict (mode) do update set walk = excluded.walk`,
      [mode, JSON.stringify(toStored(cursor))],
    );
  },
  page: async (mode, after, limit) => {
    const prefix = invoicePrefix[mode];
    const { rows } = await db.query<{ stream: string; createdAt: Instant | null; isSampled: boolean }>({
      name: 'reconciliation-page',
      text: PAGE,
      // Streams are compared byte by byte, and '.' is the next byte after the '-' that ends the prefix.
      values: [after ?? prefix, `${prefix.slice(0, -1)}.`, limit],
    });
    return rows.map(({ createdAt, ...row }) => ({ ...row, createdAt: createdAt ?? undefined }));
  },
});

/** The stored JSON; its names are older than those of the code and stay. */
type StoredCursor = Omit<ReconciliationProgress, 'firstAbsences'> & {
  awaited: readonly (Omit<FirstAbsence, 'askedAt'> & { heardAt: Instant })[];
};

const toStored = ({ firstAbsences, ...cursor }: ReconciliationProgress): StoredCursor => ({
  ...cursor,
  awaited: firstAbsences.map(({ askedAt, ...absence }) => ({ ...absence, heardAt: askedAt })),
});

const fromStored = ({ awaited, ...cursor }: StoredCursor): ReconciliationProgress => ({
  ...cursor,
  firstAbsences: awaited.map(({ heardAt, ...absence }) => ({ ...absence, askedAt: heardAt })),
});

// The JSON is read, because rows of an earlier version have no column for the cancellation.
const PAGE = `select stream, created_at as "createdAt",
    access_key is not null and coalesce(state::jsonb #>> '{cancellation,status}', '') <> 'failed' as "isSampled"
  from read.invoices where stream > $1 and stream < $2 order by stream limit $3`;
