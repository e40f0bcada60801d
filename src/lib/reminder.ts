/** Milliseconds between two log lines about a state that lasts: a server that stays away must not fill the log. */
export const REMIND_MS = 600_000;

export type Reminder = {
  /** True when the state is told for the first time since the last `reset`, and again each `REMIND_MS` that it comes. */
  isDue(state: string): boolean;
  /** The states are over: each is told at once when it comes again. */
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
