import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSlidingLimit } from '../../../src/http/access/sliding-limit.js';

const START_MS = Date.UTC(2026, 10, 21, 12);

/** Pauses in ms; most within a window, some on its very edge. */
const pause = fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.constantFrom(0, 1, 999, 1_000, 59_999, 60_000, 60_001));

describe('a sliding limit', () => {
  it('whatever the times of the hits, back steps of the clock included: 1 <= Retry-After <= Reset <= 60', () => {
    const step = fc.oneof(
      { weight: 9, arbitrary: pause },
      { weight: 1, arbitrary: fc.integer({ min: -90_000, max: -1 }) },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (limit, steps) => {
        const slots = createSlidingLimit(limit);
        let nowMs = START_MS;
        for (const ms of steps) {
          nowMs += ms;
          const { state, retryAfterSeconds } = slots.take('key', nowMs);
          expect(state.limit).toBe(limit);
          expect(state.remaining).toBeGreaterThanOrEqual(0);
          expect(state.resetSeconds).toBeLessThanOrEqual(60);
          expect(retryAfterSeconds ?? 1).toBeGreaterThanOrEqual(1);
          expect(retryAfterSeconds ?? 1).toBeLessThanOrEqual(state.resetSeconds);
        }
      }),
    );
  });

  it('keeps its word: a try after Retry-After is served, one after Reset finds the whole quota, and none before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(pause, { minLength: 1, maxLength: 30 }), (limit, pauses) => {
        const tryAt = (offsetMs: number) => {
          const slots = createSlidingLimit(limit);
          let nowMs = START_MS;
          let last = slots.take('key', nowMs);
          for (const ms of pauses) {
            nowMs += ms;
            last = slots.take('key', nowMs);
          }
          return { last, after: slots.take('key', nowMs + offsetMs) };
        };
        const { last } = tryAt(0);
        const { resetSeconds } = last.state;
        expect(tryAt(resetSeconds * 1000).after.state.remaining).toBe(limit - 1);
        if (resetSeconds > 1 && limit > 1)
          expect(tryAt((resetSeconds - 1) * 1000).after.state.remaining).toBeLessThan(limit - 1);
        if (last.retryAfterSeconds === undefined) return;
        expect(tryAt(last.retryAfterSeconds * 1000).after.retryAfterSeconds).toBeUndefined();
        if (last.retryAfterSeconds > 1)
          expect(tryAt((last.retryAfterSeconds - 1) * 1000).after.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  it('a clock set back by an hour blocks a key for a window and no longer', () => {
    const slots = createSlidingLimit(2);
    slots.take('key', START_MS);
    slots.take('key', START_MS);
    const back = START_MS - 3_600_000;
    expect(slots.take('key', back)).toMatchObject({ retryAfterSeconds: 60 });
    expect(slots.take('key', back + 59_999)).toMatchObject({ retryAfterSeconds: 1 });
    expect(slots.take('key', back + 60_000)).toMatchObject({ state: { remaining: 1 } });
  });

  it('keeps a log only for the keys of the last 60 seconds', () => {
    const slots = createSlidingLimit(2);
    for (let n = 0; n < 1_000; n += 1) slots.take(`key ${n}`, START_MS + n);
    expect(slots.kept()).toBe(1_000);
    // The first of them again, so that it is the newest: a log in use stays.
    slots.take('key 0', START_MS + 30_000);
    slots.take('another', START_MS + 61_000);
    expect(slots.kept()).toBe(2);
    expect(slots.take('key 0', START_MS + 61_000).state.remaining).toBe(0);
  });

  it('gives a slot back once, only the one of that time, and keeps no empty log', () => {
    const slots = createSlidingLimit(2);
    slots.take('key', START_MS);
    slots.giveBack('key', START_MS + 1);
    slots.giveBack('stranger', START_MS);
    expect(slots.take('key', START_MS + 1).state.remaining).toBe(0);
    slots.giveBack('key', START_MS);
    slots.giveBack('key', START_MS);
    expect(slots.take('key', START_MS + 2)).toMatchObject({ state: { remaining: 0, resetSeconds: 60 } });
    slots.giveBack('key', START_MS + 1);
    slots.giveBack('key', START_MS + 2);
    expect(slots.kept()).toBe(0);
  });

  it('a key over its limit is not forgotten for asking on', () => {
    const slots = createSlidingLimit(1);
    slots.take('greedy', START_MS);
    for (let ms = 1; ms < 60_000; ms += 1_000) {
      expect(slots.take('greedy', START_MS + ms).retryAfterSeconds).toBeGreaterThanOrEqual(1);
      slots.take(`key ${ms}`, START_MS + ms);
    }
    expect(slots.take('greedy', START_MS + 60_000).retryAfterSeconds).toBeUndefined();
  });
});
