import { type Instant, instant } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';

let last: { ms: number; at: Instant } = { ms: 0, at: instant(0) };

/** Reads the system's clock at each call. A request asks for the time about ten times, so the text of one millisecond is made once. */
export const systemClock: Clock = {
  now: () => {
    const ms = Date.now();
    if (ms !== last.ms) last = { ms, at: instant(ms) };
    return last.at;
  },
};
