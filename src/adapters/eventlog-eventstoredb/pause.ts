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
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);

/** Settles as `action` does, or rejects with what `late` makes after `ms`; what comes later is dropped without a trace. */
export const within = async <T>(ms: number, action: Promise<T>, late: () => Error): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([action, timeUp]);
  } finally {
    clearTimeout(timer);
  }
};
