/** A longer one rings early, and whoever hears it sets it again: no timer of Node's is ever too long. */
const LONGEST_MS = 60_000;

/** One timer for the earliest instant that anybody asked for, in milliseconds of the monotonic clock. */
export type Alarm = { setFor(dueMs: number): void; clear(): void };

export const createAlarm = (ring: () => void): Alarm => {
  let timer: NodeJS.Timeout | undefined;
  let setForMs = Number.POSITIVE_INFINITY;

  const clear = (): void => {
    clearTimeout(timer);
    setForMs = Number.POSITIVE_INFINITY;
  };

  return {
    setFor: (dueMs) => {
      if (setForMs <= dueMs) return;
      clear();
      setForMs = dueMs;
      const ms = Math.max(1, Math.ceil(dueMs - performance.now()));
      timer = setTimeout(
        () => {
          setForMs = Number.POSITIVE_INFINITY;
          ring();
        },
        Math.min(LONGEST_MS, ms),
      );
    },
    clear,
  };
};
