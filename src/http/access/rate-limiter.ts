import type { RateState } from '../call.js';
import type { RateLimits } from '../deps.js';

export type Bucket = keyof RateLimits;

/** `retryAfterSeconds` is there when the request is over the limit; such a request takes no slot. */
export type RateVerdict = { state: RateState; retryAfterSeconds?: number };

export type RateLimiter = {
  /** Takes a slot of this key's bucket at `nowMs`. */
  take(keyId: string, bucket: Bucket, nowMs: number): RateVerdict;
  /** Logs in memory: those of the keys that took a slot in the last 60 seconds, two per key at most. */
  kept(): number;
};

const WINDOW_MS = 60_000;

/** A sliding log of 60 seconds for each key and bucket. */
export const createRateLimiter = (limits: RateLimits): RateLimiter => {
  const buckets = { write: createSlidingLimit(limits.write), read: createSlidingLimit(limits.read) };
  return {
    take: (keyId, bucket, nowMs) => buckets[bucket].take(keyId, nowMs),
    kept: () => buckets.write.kept() + buckets.read.kept(),
  };
};

export type SlidingLimit = {
  /** Takes a slot of `place` at `nowMs`. */
  take(place: string, nowMs: number): RateVerdict;
  /** Logs in memory: those of the places that took a slot in the last 60 seconds. */
  kept(): number;
};

/** At most `limit` in any 60 seconds for each place: `Reset` = the newest hit leaves, `Retry-After` = the oldest leaves. */
export const createSlidingLimit = (limit: number): SlidingLimit => {
  const logs = new Map<string, number[]>();
  return {
    take: (place, nowMs) => {
      const hits = logs.get(place) ?? [];
      dropOld(hits, nowMs);
      const free = hits.length < limit;
      if (free) {
        hits.push(nowMs);
        keepLast(logs, place, hits);
        forgetIdle(logs, nowMs);
      }
      const newest = hits[hits.length - 1] ?? nowMs;
      const state = { limit, remaining: limit - hits.length, resetSeconds: secondsUntilLeft(newest, nowMs) };
      return free
        ? { state }
        : { state, retryAfterSeconds: Math.min(secondsUntilLeft(hits[0] ?? nowMs, nowMs), state.resetSeconds) };
    },
    kept: () => logs.size,
  };
};

/** A hit of the future, of a clock that was set back since, counts as one of now: else it would stay for as long as that. */
const dropOld = (hits: number[], nowMs: number): void => {
  if ((hits[hits.length - 1] ?? nowMs) > nowMs)
    for (const [index, at] of hits.entries()) hits[index] = Math.min(at, nowMs);
  const left = hits.findIndex((at) => nowMs - at < WINDOW_MS);
  if (left !== 0) hits.splice(0, left === -1 ? hits.length : left);
};

/** Keeps the map in the order of the newest hits. */
const keepLast = (logs: Map<string, number[]>, place: string, hits: number[]): void => {
  logs.delete(place);
  logs.set(place, hits);
};

/** The order makes this cost one look per request. */
const forgetIdle = (logs: Map<string, number[]>, nowMs: number): void => {
  for (const [place, hits] of logs) {
    if (nowMs - (hits[hits.length - 1] ?? nowMs) < WINDOW_MS) return;
    logs.delete(place);
  }
};

/** Rounded up, 1 to 60. */
const secondsUntilLeft = (hitMs: number, nowMs: number): number =>
  Math.max(1, Math.ceil((hitMs + WINDOW_MS - nowMs) / 1000));
