import type pg from 'pg';
import { invoicePrefix } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { Walk, Walks } from '../../ports/reconciliation.js';

/** Needs the migration `reconciliation` and the projection `invoices`, whose key gives the order. */
export const createWalks = (db: pg.Pool): Walks => ({
  read: async (mode) => {
    const { rows } = await db.query<{ walk: string }>('select walk from reconciliation_walks where mode = $1', [mode]);
    return rows[0] === undefined ? undefined : (JSON.parse(rows[0].walk) as Walk);
  },
  save: async (mode, walk) => {
    await db.query(
      `insert into reconciliation_walks (mode, walk) values ($1, $2)
       on conflict (mode) do update set walk = excluded.walk`,
      [mode, JSON.stringify(walk)],
    );
  },
  page: async (mode, after, limit) => {
    const prefix = invoicePrefix[mode];
    const { rows } = await db.query<{ stream: string; created_at: Instant | null; issued: boolean }>({
      name: 'reconciliation-page',
      text: PAGE,
      // Streams are compared byte by byte, and '.' is the next byte after the '-' that ends the prefix.
      values: [after ?? prefix, `${prefix.slice(0, -1)}.`, limit],
    });
    return rows.map(({ stream, created_at, issued }) => ({
      ...{ stream, createdAt: created_at ?? undefined, isIssued: issued },
    }));
  },
});

const PAGE = `select stream, created_at, access_key is not null as issued
  from read.invoices where stream > $1 and stream < $2 order by stream limit $3`;
