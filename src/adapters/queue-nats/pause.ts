import { setTimeout as sleep } from 'node:timers/promises';

/** Between two tries; doubles with each failure, half to full of it at random, so that many do not come at once. */
export type Backoff = { next(): number; reset(): void };

export const createBackoff = (firstMs: number, longestMs: number): Backoff => {
  let ms = firstMs;
  return {
    next: () => {
      const now = ms * (0.5 + Math.random() / 2);
      ms = Math.min(ms * 2, longestMs);
      return now;
    },
    reset: () => {
      ms = firstMs;
    },
  };
};

/** Ends early, without an error, when the signal aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** True when it settled in time; false after `ms`. Its error is the caller's. */
export const within = async (ms: number, settling: Promise<unknown>): Promise<boolean> => {
  const timer = new AbortController();
  try {
    return await Promise.race([settling.then(() => true), pause(ms, timer.signal).then(() => false)]);
  } finally {
    timer.abort();
  }
};
