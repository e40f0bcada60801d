import type pg from 'pg';
import type { PendingCuts } from '../../ports/guards.js';

export const pendingCuts = (db: pg.Pool): PendingCuts => ({
  add: async (stream) => {
    await db.query('insert into pending_cuts (stream) values ($1) on conflict do nothing', [stream]);
  },
  done: async (stream) => {
    await db.query('delete from pending_cuts where stream = $1', [stream]);
  },
  list: async (limit) => {
    const { rows } = await db.query<{ stream: string }>('select stream from pending_cuts order by stream limit $1', [
      limit,
    ]);
    return rows.map(({ stream }) => stream);
  },
});
