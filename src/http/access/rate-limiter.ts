import type { RateState } from '../call.js';
import type { RateLimits } from '../deps.js';

export type Bucket = keyof RateLimits;

/** `retryAfterSeconds` is there when the request is over the limit; such a request takes no slot. */
export type RateVerdict = { state: RateState; retryAfterSeconds?: number };

export type RateLimiter = {
  /** Takes a slot of this key's bucket at `nowMs`. */
  take(keyId: string, bucket: Bucket, nowMs: number): RateVerdict;
};

const WINDOW_MS = 60_000;

/** Sliding log of 60 seconds per key and bucket: `Reset` = the newest hit leaves, `Retry-After` = the oldest leaves (reading 20). */
export const createRateLimiter = (limits: RateLimits): RateLimiter => {
  const logs = { write: new Map<string, number[]>(), read: new Map<string, number[]>() };
  return {
    take: (keyId, bucket, nowMs) => {
      const limit = limits[bucket];
      const hits = logOf(logs[bucket], keyId);
      const left = hits.findIndex((at) => nowMs - at < WINDOW_MS);
      if (left !== 0) hits.splice(0, left === -1 ? hits.length : left);
      const free = hits.length < limit;
      if (free) hits.push(nowMs);
      const newest = hits[hits.length - 1] ?? nowMs;
      const state = { limit, remaining: limit - hits.length, resetSeconds: secondsUntilLeft(newest, nowMs) };
      return free
        ? { state }
        : { state, retryAfterSeconds: Math.min(secondsUntilLeft(hits[0] ?? nowMs, nowMs), state.resetSeconds) };
    },
  };
};

const logOf = (logs: Map<string, number[]>, keyId: string): number[] => {
  const known = logs.get(keyId);
  if (known !== undefined) return known;
  const fresh: number[] = [];
  logs.set(keyId, fresh);
  return fresh;
};

/** Rounded up, 1 to 60, also when the clock was set back since. */
const secondsUntilLeft = (hitMs: number, nowMs: number): number =>
  Math.min(WINDOW_MS / 1000, Math.max(1, Math.ceil((hitMs + WINDOW_MS - nowMs) / 1000)));
