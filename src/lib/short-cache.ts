import { LRUCache } from 'lru-cache';
import { epochMs } from '../domain/common/time.js';
import type { Clock } from '../ports/clock.js';
import { createFairSemaphore } from './fair-semaphore.js';

const ENTRIES = 10_000;
const UNKNOWN_ENTRIES = 1_000;

/**
 * Caches each answer for `ms` of the clock; a failed question is asked again at once. Keys without an answer are cached apart, and at most
 * `unknownAtOnce` of them are asked at a time, so that a flood of them takes no known key its place or its connection.
 */
export const shortCache = <T>(
  ms: number,
  clock: Clock,
  ask: (key: string) => Promise<T>,
  unknownAtOnce = Number.POSITIVE_INFINITY,
): ((key: string) => Promise<T>) => {
  type Entry = { at: number; answer: Promise<T> };
  const known = new LRUCache<string, Entry>({ max: ENTRIES });
  const unknown = new LRUCache<string, Entry>({ max: UNKNOWN_ENTRIES });
  const limits = { atOnce: unknownAtOnce, perOwner: unknownAtOnce, waitingPerOwner: Number.POSITIVE_INFINITY };
  const unknownOnes = createFairSemaphore({ what: 'unknown keys', ...limits });
  return (key) => {
    const at = epochMs(clock.now());
    const before = known.get(key);
    const entry = before ?? unknown.get(key);
    if (entry !== undefined && Math.abs(at - entry.at) < ms) return entry.answer;
    const answer = before === undefined ? unknownOnes('all', () => ask(key)) : ask(key);
    const asked = { at, answer };
    (before === undefined ? unknown : known).set(key, asked);
    answer.then(
      (found) => {
        const [home, other] = found === undefined ? [unknown, known] : [known, unknown];
        other.delete(key);
        home.set(key, asked);
      },
      () => {
        known.delete(key);
        unknown.delete(key);
      },
    );
    return answer;
  };
};
