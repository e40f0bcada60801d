import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Instant } from '../../domain/shared/time.js';
import type { DuplicateWindow } from '../../ports/guards.js';

type MarkRow = { stream: string; at: Instant; placed_by: string };

export const duplicateWindow = (db: pg.Pool): DuplicateWindow => ({
  place: async (fingerprint, mark, youngerThan) => {
    const placedBy: string = randomUUID();
    const values = [fingerprint, mark.stream, mark.at, placedBy, youngerThan];
    const { rows } = await db.query<MarkRow>({ name: 'mark-place', text: PLACE, values });
    const row = rows[0];
    if (row === undefined) throw new Error('a mark came back without its row');
    return row.placed_by === placedBy ? undefined : { stream: row.stream, at: row.at };
  },
  takeOver: async (fingerprint, from, to) => {
    const values = [fingerprint, from.stream, from.at, to.stream, to.at, randomUUID()];
    return (await db.query({ name: 'mark-take-over', text: TAKE_OVER, values })).rowCount === 1;
  },
  remove: async (fingerprint, stream) => {
    await db.query({ name: 'mark-remove', text: REMOVE, values: [fingerprint, stream] });
  },
});

/** As with keys, a mark that stands is written back, so that the row which decided is always returned. */
const FREE = '($5::text is null or m.at <= $5::text)';

const PLACE = `insert into duplicate_marks as m (fingerprint, stream, at, placed_by) values ($1, $2, $3, $4)
  on conflict (fingerprint) do update set
    stream = case when ${FREE} then excluded.stream else m.stream end,
    at = case when ${FREE} then excluded.at else m.at end,
    placed_by = case when ${FREE} then excluded.placed_by else m.placed_by end
  returning stream, at, placed_by`;

const TAKE_OVER = `update duplicate_marks set stream = $4, at = $5, placed_by = $6
  where fingerprint = $1 and stream = $2 and at = $3`;

const REMOVE = `delete from duplicate_marks where fingerprint = $1 and stream = $2`;
