import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { epochMs, type UtcDay } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import { openSecret, type SecretBinding, sealSecret } from './envelope.js';
import type { Keyring } from './keyring.js';

export type DayKeys = ReturnType<typeof dayKeys>;

/** Longest use of a key that another process has destroyed. */
const CACHED_MS = 60_000;

/** Random keys, one per UTC day, sealed under the newest master key (ADR 25). */
export const dayKeys = (db: pg.Pool, keyring: Keyring, clock: Clock) => {
  const cache = new Map<UtcDay, { key: Buffer; readAt: number }>();

  /** Evicts every key of that age, so that a destroyed key does not stay in memory until its day is asked for. */
  const cached = (day: UtcDay): Buffer | undefined => {
    const now = epochMs(clock.now());
    for (const [known, { readAt }] of cache) if (Math.abs(now - readAt) >= CACHED_MS) cache.delete(known);
    return cache.get(day)?.key;
  };

  const read = async (day: UtcDay): Promise<Buffer | undefined> => {
    const readAt = epochMs(clock.now());
    const { rows } = await db.query<{ sealed: string }>('select sealed from vault_day_keys where day = $1', [day]);
    const row = rows[0];
    if (row === undefined) {
      cache.delete(day);
      return undefined;
    }
    const key = await openSecret(row.sealed, dayKeyBinding(day), keyring);
    cache.set(day, { key, readAt });
    return key;
  };

  const find = async (day: UtcDay): Promise<Buffer | undefined> => cached(day) ?? (await read(day));

  return {
    /** The key of a day, made when the day has none. Every process gets the same bytes. */
    ensure: async (day: UtcDay): Promise<Buffer> => {
      const known = await find(day);
      if (known !== undefined) return known;
      const sealed = sealSecret(randomBytes(32), dayKeyBinding(day), keyring.sealing().key);
      await db.query('insert into vault_day_keys (day, sealed) values ($1, $2) on conflict do nothing', [day, sealed]);
      const made = await read(day);
      if (made === undefined) throw new Error(`the key of ${day} was destroyed while it was made`);
      return made;
    },
    /** Undefined when the day has no key, also after its key was destroyed. */
    find,
    /** Destroys the keys of the days before this one. Returns how many. */
    destroyBefore: async (day: UtcDay): Promise<number> => {
      for (const known of [...cache.keys()]) if (known < day) cache.delete(known);
      return (await db.query('delete from vault_day_keys where day < $1', [day])).rowCount ?? 0;
    },
  };
};

export const dayKeyBinding = (day: UtcDay): SecretBinding => ({ purpose: 'day-key', path: [day] });
