import { LRUCache } from 'lru-cache';
import type { Pacer, Pacing } from '../../http/deps.js';
import { pause } from '../../lib/pause.js';

type Pace = {
  /** Answers of one caller that leave at once after a pause of `burst` times `everyMs`. */
  burst: number;
  /** Milliseconds between further answers to the same caller. */
  everyMs: number;
  /** Longest wait: an answer that is due later leaves then, so that clients do not give up. */
  longestMs: number;
};

const REFUSALS: Pace = { burst: 200, everyMs: 10, longestMs: 1_000 };
/** A browser asks for five files to show the reference, and a proxy may be the address of many browsers. */
const PAGES: Pace = { burst: 200, everyMs: 20, longestMs: 1_000 };

/** Callers in memory. A caller that is forgotten gets a new burst. */
const MAX_CALLERS = 10_000;

/** The caller as it is paced: of an IPv6 address the network of 64 bits, which a client has as a whole. A short form such as `1::2` may be larger. */
export const pacedAs = (caller: string): string => {
  if (!caller.includes(':') || caller.includes('.')) return caller;
  const [left = ''] = caller.split('::', 1);
  return [...left.split(':'), '0', '0', '0'].slice(0, 4).join(':');
};

/** Milliseconds that the caller's next answer waits. `nowMs` is monotonic. */
export const createPace = ({ burst, everyMs, longestMs }: Pace, nowMs = () => performance.now()) => {
  const dueAt = new LRUCache<string, number>({ max: MAX_CALLERS });
  return (caller: string): number => {
    const now = nowMs();
    const due = Math.min(now + longestMs, Math.max(dueAt.get(caller) ?? 0, now - burst * everyMs) + everyMs);
    dueAt.set(caller, due);
    return Math.max(0, due - now);
  };
};

const createPacer = (pace: Pace): Pacer => {
  const waitOf = createPace(pace);
  return (caller) => {
    const waitMs = waitOf(pacedAs(caller));
    return waitMs === 0 ? undefined : pause(waitMs);
  };
};

export const createPacing = (): Pacing => ({ refusals: createPacer(REFUSALS), pages: createPacer(PAGES) });
