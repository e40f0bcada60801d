/** Milliseconds between two log lines about a state that lasts: a server that stays away must not fill the log. */
export const REMIND_MS = 600_000;

export type Reminder = {
  /** True for the first report of the state since the last `reset`, and then at most once in `REMIND_MS`. */
  isDue(state: string): boolean;
  /** The states are over: each is due at once when it comes again. */
  reset(): void;
};

/** For states that come from a small set, as names with codes: each is remembered until `reset`. */
export const createReminder = (nowMs = (): number => performance.now()): Reminder => {
  const toldAt = new Map<string, number>();
  return {
    isDue: (state) => {
      const last = toldAt.get(state);
      if (last !== undefined && nowMs() - last < REMIND_MS) return false;
      toldAt.set(state, nowMs());
      return true;
    },
    reset: () => toldAt.clear(),
  };
};
