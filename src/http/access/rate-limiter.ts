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

/** Sliding log of 60 seconds per key and bucket: `Reset` = the newest hit leaves, `Retry-After` = the oldest leaves (reading 20). */
export const createRateLimiter = (limits: RateLimits): RateLimiter => {
  const logs = { write: new Map<string, number[]>(), read: new Map<string, number[]>() };
  return {
    take: (keyId, bucket, nowMs) => {
      const limit = limits[bucket];
      const hits = logs[bucket].get(keyId) ?? [];
      dropOld(hits, nowMs);
      const free = hits.length < limit;
      if (free) {
        hits.push(nowMs);
        keepLast(logs[bucket], keyId, hits);
        forgetIdle(logs[bucket], nowMs);
      }
      const newest = hits[hits.length - 1] ?? nowMs;
      const state = { limit, remaining: limit - hits.length, resetSeconds: secondsUntilLeft(newest, nowMs) };
      return free
        ? { state }
        : { state, retryAfterSeconds: Math.min(secondsUntilLeft(hits[0] ?? nowMs, nowMs), state.resetSeconds) };
    },
    kept: () => logs.write.size + logs.read.size,
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
const keepLast = (logs: Map<string, number[]>, keyId: string, hits: number[]): void => {
  logs.delete(keyId);
  logs.set(keyId, hits);
};

/** The order makes this cost one look per request. */
const forgetIdle = (logs: Map<string, number[]>, nowMs: number): void => {
  for (const [keyId, hits] of logs) {
    if (nowMs - (hits[hits.length - 1] ?? nowMs) < WINDOW_MS) return;
    logs.delete(keyId);
  }
};

/** Rounded up, 1 to 60. */
const secondsUntilLeft = (hitMs: number, nowMs: number): number =>
  Math.max(1, Math.ceil((hitMs + WINDOW_MS - nowMs) / 1000));
