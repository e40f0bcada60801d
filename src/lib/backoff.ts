/** A random part of `ms`, at least half, so that the clients of a server that comes back do not arrive at once. */
export const jittered = (ms: number): number => ms * (0.5 + Math.random() / 2);

/** Milliseconds between two tries. They double with each failure up to a limit, and are jittered. */
export type Backoff = { next(): number; reset(): void };

export const createBackoff = (firstMs: number, longestMs: number): Backoff => {
  let ms = firstMs;
  return {
    next: () => {
      const now = jittered(ms);
      ms = Math.min(ms * 2, longestMs);
      return now;
    },
    reset: () => {
      ms = firstMs;
    },
  };
};
