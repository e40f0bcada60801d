import { addSeconds, type Instant, isBefore } from '../../src/domain/common/time.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Timers } from '../../src/simulator/timers.js';

export type MovedTimers = Timers & {
  /** When the next one is due. */
  next(): Instant | undefined;
  /** Runs everything that is due by now. */
  fire(): void;
};

/** The simulator's delays, by a clock that only the test moves. */
export const movedTimers = (clock: Clock): MovedTimers => {
  let waiting: { at: Instant; task: () => void }[] = [];
  const after = (delayMs: number, task: () => void): void => {
    waiting.push({ at: addSeconds(clock.now(), delayMs / 1000), task });
  };
  const take = (isDue: (at: Instant) => boolean): void => {
    const due = waiting.filter(({ at }) => isDue(at)).sort((one, other) => (isBefore(one.at, other.at) ? -1 : 1));
    waiting = waiting.filter(({ at }) => !isDue(at));
    for (const { task } of due) task();
  };
  return {
    after,
    wait: (delayMs) => new Promise((resolve) => after(delayMs, resolve)),
    next: () => waiting.map(({ at }) => at).sort()[0],
    fire: () => take((at) => !isBefore(clock.now(), at)),
    close: () => take(() => true),
  };
};
