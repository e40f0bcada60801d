import type { RateState } from '../call.js';

export type SlidingLimit = {
  /**
   * Takes a slot of `subject` (a key or an invoice) at `nowMs`. `retryAfterSeconds` is present when the request is over the limit; such a request
   * takes no slot.
   */
  take(subject: string, nowMs: number): { state: RateState; retryAfterSeconds?: number };
  /** Gives back a slot that was taken at `takenMs`; without effect when the slot has left the window. */
  giveBack(subject: string, takenMs: number): void;
  /** Number of logs in memory: one for each `subject` that took a slot in the last 60 seconds. */
  kept(): number;
};

const WINDOW_MS = 60_000;

/** At most `limit` hits in any 60 seconds for each `subject`. Reset is when the newest hit leaves, Retry-After when the oldest leaves. */
export const createSlidingLimit = (limit: number): SlidingLimit => {
  const logs = new Map<string, number[]>();
  return {
    take: (subject, nowMs) => {
      const hits = logs.get(subject) ?? [];
      dropOld(hits, nowMs);
      const free = hits.length < limit;
      if (free) {
        hits.push(nowMs);
        keepLast(logs, subject, hits);
        forgetIdle(logs, nowMs);
      }
      const newest = hits[hits.length - 1] ?? nowMs;
      const state = { limit, remaining: limit - hits.length, resetSeconds: secondsUntilLeft(newest, nowMs) };
      return free
        ? { state }
        : { state, retryAfterSeconds: Math.min(secondsUntilLeft(hits[0] ?? nowMs, nowMs), state.resetSeconds) };
    },
    giveBack: (subject, takenMs) => {
      const hits = logs.get(subject) ?? [];
      const at = hits.lastIndexOf(takenMs);
      if (at >= 0) hits.splice(at, 1);
      // An empty log would keep `forgetIdle` from the logs behind it.
      if (hits.length === 0) logs.delete(subject);
    },
    kept: () => logs.size,
  };
};

/** A hit in the future, from before the clock was set back, counts as a hit of now; otherwise it would stay longer than 60 seconds. */
const dropOld = (hits: number[], nowMs: number): void => {
  if ((hits[hits.length - 1] ?? nowMs) > nowMs)
    for (const [index, at] of hits.entries()) hits[index] = Math.min(at, nowMs);
  const left = hits.findIndex((at) => nowMs - at < WINDOW_MS);
  if (left !== 0) hits.splice(0, left === -1 ? hits.length : left);
};

/** Keeps the map in the order of the newest hits. */
const keepLast = (logs: Map<string, number[]>, subject: string, hits: number[]): void => {
  logs.delete(subject);
  logs.set(subject, hits);
};

/** The oldest key comes first, so the loop stops at the first one still in its window. */
const forgetIdle = (logs: Map<string, number[]>, nowMs: number): void => {
  for (const [subject, hits] of logs) {
    if (nowMs - (hits[hits.length - 1] ?? nowMs) < WINDOW_MS) return;
    logs.delete(subject);
  }
};

/** Seconds until the hit leaves the window, rounded up, at least 1. */
const secondsUntilLeft = (hitMs: number, nowMs: number): number =>
  Math.max(1, Math.ceil((hitMs + WINDOW_MS - nowMs) / 1000));
