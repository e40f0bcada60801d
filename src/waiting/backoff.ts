/** Half to full of it, at random: many whose server comes back do not arrive at once. */
export const jittered = (ms: number): number => ms * (0.5 + Math.random() / 2);

/** Milliseconds between two tries; doubles with each failure, jittered. */
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
