import { addSeconds, epochMs, type Instant } from '../../../src/domain/common/time.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';

export type RunningClock = ReturnType<typeof runningClock>;

/** The system's clock, which a test can move forward. */
export const runningClock = () => {
  let aheadSeconds = 0;
  const now = (): Instant => addSeconds(systemClock.now(), aheadSeconds);
  return {
    now,
    pass: (seconds: number): void => {
      aheadSeconds += seconds;
    },
    /** Moves to so many seconds after the instant, whatever the time that passed since. */
    moveTo: (instant: Instant, seconds: number): void => {
      aheadSeconds += (epochMs(instant) - epochMs(now())) / 1000 + seconds;
    },
  };
};
