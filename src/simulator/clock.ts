import { addSeconds, epochMs, type Instant, instant } from '../domain/common/time.js';
import type { Clock } from './options.js';

/** The authorizer's clock: the given clock plus an offset, which the control port may change. */
export type AuthorizerClock = Clock & { setOffset(seconds: number): void };

export const createAuthorizerClock = (clock: Clock): AuthorizerClock => {
  let offsetSeconds = 0;
  return {
    now: () => addSeconds(clock.now(), offsetSeconds),
    setOffset: (seconds) => {
      offsetSeconds = seconds;
    },
  };
};

/** Documents carry whole seconds, and the ledger keeps the same instant as their `dhProc`. */
export const wholeSecond = (at: Instant): Instant => instant(Math.floor(epochMs(at) / 1000) * 1000);
