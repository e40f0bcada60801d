import { epochMs } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';

const WINDOW_MS = 60_000;
const ADDRESSES_KEPT = 1_000;

/** Wrong tokens of the last minute, by address. */
export type Attempts = {
  /** Seconds to wait; 0 when a token may be tried now. */
  waitSeconds(address: string): number;
  wrong(address: string): void;
};

/** At most `limit` wrong ones a minute and address; who is over it is not even compared. */
export const createAttempts = (clock: Clock, limit = 5): Attempts => {
  const wrongs = new Map<string, readonly number[]>();
  const recent = (address: string, nowMs: number): readonly number[] =>
    (wrongs.get(address) ?? []).filter((at) => Math.abs(nowMs - at) < WINDOW_MS);
  return {
    waitSeconds: (address) => {
      const nowMs = epochMs(clock.now());
      const [oldest, ...more] = recent(address, nowMs);
      return oldest === undefined || more.length + 1 < limit ? 0 : Math.ceil((oldest + WINDOW_MS - nowMs) / 1000);
    },
    wrong: (address) => {
      const nowMs = epochMs(clock.now());
      const hits = [...recent(address, nowMs), nowMs];
      wrongs.delete(address);
      wrongs.set(address, hits);
      const [first] = wrongs.keys();
      if (wrongs.size > ADDRESSES_KEPT && first !== undefined) wrongs.delete(first);
    },
  };
};
