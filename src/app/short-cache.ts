import { epochMs } from '../domain/shared/time.js';
import type { Clock } from '../ports/clock.js';
import { lru } from './lru.js';

const ENTRIES = 10_000;

/** Remembers each answer for `ms` of the clock; a failed question is asked again at once. */
export const shortCache = <T>(
  ms: number,
  clock: Clock,
  ask: (key: string) => Promise<T>,
): ((key: string) => Promise<T>) => {
  const answers = lru<string, { at: number; answer: Promise<T> }>(ENTRIES);
  return (key) => {
    const at = epochMs(clock.now());
    const known = answers.get(key);
    if (known !== undefined && Math.abs(at - known.at) < ms) return known.answer;
    const answer = ask(key);
    answer.catch(() => answers.delete(key));
    answers.set(key, { at, answer });
    return answer;
  };
};
