import { epochMs } from '../domain/shared/time.js';
import type { Clock } from '../ports/clock.js';
import { lru } from './lru.js';
import { createGate } from './read/gate.js';

const ENTRIES = 10_000;
const UNKNOWN_ENTRIES = 1_000;

/**
 * Remembers each answer for `ms` of the clock; a failed question is asked again at once. Keys without an answer
 * (undefined) are remembered apart, so that no number of them evicts a known key, and at most `unknownAtOnce` of them
 * are asked at a time, where a flood must leave connections to the known ones.
 */
export const shortCache = <T>(
  ms: number,
  clock: Clock,
  ask: (key: string) => Promise<T>,
  unknownAtOnce = Number.POSITIVE_INFINITY,
): ((key: string) => Promise<T>) => {
  type Entry = { at: number; answer: Promise<T> };
  const known = lru<string, Entry>(ENTRIES);
  const unknown = lru<string, Entry>(UNKNOWN_ENTRIES);
  const unknownOnes = createGate(unknownAtOnce);
  return (key) => {
    const at = epochMs(clock.now());
    const before = known.get(key);
    const entry = before ?? unknown.get(key);
    if (entry !== undefined && Math.abs(at - entry.at) < ms) return entry.answer;
    const answer = before === undefined ? unknownOnes(() => ask(key)) : ask(key);
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
