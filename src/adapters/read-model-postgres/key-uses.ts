import type pg from 'pg';
import type { Instant } from '../../domain/common/time.js';

export type KeyUses = ReturnType<typeof createKeyUses>;

/** When API keys were last used (migration 23). */
export const createKeyUses = (db: pg.Pool) => ({
  /** Keeps the later instant, because several processes report uses. */
  save: async (uses: ReadonlyMap<string, Instant>): Promise<void> => {
    await db.query(
      `insert into key_uses as k (key_id, last_used_at) select * from unnest($1::text[], $2::text[])
       on conflict (key_id) do update set last_used_at = greatest(k.last_used_at, excluded.last_used_at)`,
      [[...uses.keys()], [...uses.values()]],
    );
  },
  /** The last uses of these keys; a key that was never used is absent. */
  of: async (keyIds: readonly string[]): Promise<ReadonlyMap<string, Instant>> => {
    const { rows } = await db.query<{ key_id: string; last_used_at: Instant }>(
      'select key_id, last_used_at from key_uses where key_id = any ($1)',
      [keyIds],
    );
    return new Map(rows.map(({ key_id, last_used_at }) => [key_id, last_used_at]));
  },
});
