import type pg from 'pg';
import type { Instant } from '../../domain/shared/time.js';
import type { LookupMemos } from '../../ports/guards.js';

type MemoRow = { asked: number; last_asked_at: Instant; first_absent_at: Instant | null };

export const lookupMemos = (db: pg.Pool): LookupMemos => ({
  get: async (stream, work) => {
    const { rows } = await db.query<MemoRow>({ name: 'memo-get', text: GET, values: [stream, work] });
    const row = rows[0];
    if (row === undefined) return undefined;
    const memo = { asked: row.asked, lastAskedAt: row.last_asked_at };
    return row.first_absent_at === null ? memo : { ...memo, firstAbsentAt: row.first_absent_at };
  },
  put: async (stream, work, { asked, lastAskedAt, firstAbsentAt }) => {
    const values = [stream, work, asked, lastAskedAt, firstAbsentAt ?? null];
    await db.query({ name: 'memo-put', text: PUT, values });
  },
  forget: async (stream) => {
    await db.query({ name: 'memo-forget', text: 'delete from lookup_memos where stream = $1', values: [stream] });
  },
});

const GET = `select asked, last_asked_at, first_absent_at from lookup_memos where stream = $1 and work = $2`;

const PUT = `insert into lookup_memos (stream, work, asked, last_asked_at, first_absent_at) values ($1, $2, $3, $4, $5)
  on conflict (stream, work) do update set asked = excluded.asked, last_asked_at = excluded.last_asked_at,
    first_absent_at = excluded.first_absent_at`;
