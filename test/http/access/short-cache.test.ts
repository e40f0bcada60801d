import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/domain/common/time.js';
import { shortCache } from '../../../src/lib/short-cache.js';

/** A store of keys that counts its questions; `unknown...` has no answer, `failing...` fails. */
const keyStore = () => {
  const state = { now: '2026-11-21T12:00:00.000Z' as Instant, asked: [] as string[], revoked: new Set<string>() };
  const cached = shortCache(1_000, { now: () => state.now }, async (key) => {
    state.asked.push(key);
    if (key.startsWith('failing')) throw new Error('no answer');
    return key.startsWith('unknown') || state.revoked.has(key) ? undefined : `owner of ${key}`;
  });
  const timesAsked = (key: string): number => state.asked.filter((asked) => asked === key).length;
  return { state, cached, timesAsked };
};

describe('shortCache', () => {
  it('asks once within its time, for known and unknown keys, also at the same moment', async () => {
    const { state, cached, timesAsked } = keyStore();
    for (const key of ['known', 'unknown']) {
      const expected = key === 'known' ? 'owner of known' : undefined;
      expect(await Promise.all([cached(key), cached(key)])).toEqual([expected, expected]);
      state.now = '2026-11-21T12:00:00.999Z';
      expect(await cached(key)).toBe(expected);
      expect(timesAsked(key)).toBe(1);
      state.now = '2026-11-21T12:00:02.000Z';
      expect(await cached(key)).toBe(expected);
      expect(timesAsked(key)).toBe(2);
      state.now = '2026-11-21T12:00:00.000Z';
    }
  });

  it('keeps known keys through any number of unknown ones', async () => {
    const { cached, timesAsked } = keyStore();
    await cached('known');
    await Promise.all(Array.from({ length: 12_000 }, (_, n) => cached(`unknown ${n}`)));
    await cached('known');
    expect(timesAsked('known')).toBe(1);
  });

  it('remembers a bounded number of unknown keys', async () => {
    const { cached, timesAsked } = keyStore();
    for (let n = 0; n < 1_001; n += 1) await cached(`unknown ${n}`);
    await cached('unknown 1000');
    await cached('unknown 0');
    expect([timesAsked('unknown 1000'), timesAsked('unknown 0')]).toEqual([1, 2]);
  });

  it('a key that is known no more, and one that becomes known, change sides', async () => {
    const { state, cached } = keyStore();
    await cached('known');
    state.revoked.add('known');
    state.now = '2026-11-21T12:00:01.000Z';
    expect(await cached('known')).toBeUndefined();
    state.revoked.delete('known');
    state.now = '2026-11-21T12:00:02.000Z';
    expect(await cached('known')).toBe('owner of known');
  });

  it('asks again at once after a failure', async () => {
    const { cached, timesAsked } = keyStore();
    await expect(cached('failing')).rejects.toThrow('no answer');
    await expect(cached('failing')).rejects.toThrow('no answer');
    expect(timesAsked('failing')).toBe(2);
  });

  it('asks for few unknown keys at once, and for a known one beside them', async () => {
    const running: string[] = [];
    const answer = new Map<string, (found: string | undefined) => void>();
    let now: Instant = '2026-11-21T12:00:00.000Z';
    const ask = (key: string): Promise<string | undefined> => {
      running.push(key);
      return new Promise((resolve) => answer.set(key, resolve));
    };
    const cached = shortCache(1_000, { now: () => now }, ask, 4);
    const first = cached('known');
    answer.get('known')?.('owner');
    expect(await first).toBe('owner');
    now = '2026-11-21T12:00:05.000Z';
    const flood = Array.from({ length: 50 }, (_, n) => cached(`unknown ${n}`));
    await Promise.resolve();
    expect(running).toHaveLength(1 + 4);
    const again = cached('known');
    answer.get('known')?.('owner');
    expect(await again).toBe('owner');
    for (let n = 0; n < 50; n += 1) {
      await expect.poll(() => answer.has(`unknown ${n}`)).toBe(true);
      answer.get(`unknown ${n}`)?.(undefined);
    }
    expect(await Promise.all(flood)).toEqual(flood.map(() => undefined));
  });
});
