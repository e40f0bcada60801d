/** Milliseconds between two log lines about a state that lasts: a server that stays away must not fill the log. */
export const REMIND_MS = 600_000;

export type Reminder = {
  /** True for the first report of the state since the last `reset`, and then at most once in the time between two lines. */
  isDue(state: string): boolean;
  /** The states are over: each is due at once when it comes again. */
  reset(): void;
};

/** For states that come from a small set, as names with codes: each is remembered until `reset`. `nowMs` is monotonic. */
export const createReminder = (everyMs = REMIND_MS, nowMs = (): number => performance.now()): Reminder => {
  const toldAt = new Map<string, number>();
  return {
    isDue: (state) => {
      const last = toldAt.get(state);
      if (last !== undefined && nowMs() - last < everyMs) return false;
      toldAt.set(state, nowMs());
      return true;
    },
    reset: () => toldAt.clear(),
  };
};

/** Calls `tell` with the number of reports since it was last called: at the first report, and then at most once in `everyMs`. */
export const countedReports = <T extends readonly unknown[]>(
  everyMs: number,
  tell: (count: number, ...report: T) => void,
) => {
  const reminder = createReminder(everyMs);
  let count = 0;
  return (...report: T): void => {
    count += 1;
    if (!reminder.isDue('')) return;
    tell(count, ...report);
    count = 0;
  };
};
