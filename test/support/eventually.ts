import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 5;
/** A long wait must not take the processor from the work that it waits for: the pauses grow, and are longer than the asking. */
const LONGEST_PAUSE_MS = 40;
const PAUSES_PER_ASKING = 2;

/** Asks until the answer is as wanted (by default: true), with a bound; the last answer is in the error. */
export const eventually = async <T>(
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean = (answer) => Boolean(answer),
  withinMs = 120_000,
): Promise<T> => {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.2, LONGEST_PAUSE_MS)) {
    const askedAt = performance.now();
    const answer = await ask();
    const askedMs = performance.now() - askedAt;
    if (wanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${JSON.stringify(answer)}`);
    await pause(Math.max(pauseMs, PAUSES_PER_ASKING * askedMs));
  }
};
