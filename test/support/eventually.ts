import { setTimeout as pause } from 'node:timers/promises';

const ASK_EVERY_MS = 5;

/** Asks until the answer is as wanted (by default: true), with a bound; the last answer is in the error. */
export const eventually = async <T>(
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean = (answer) => Boolean(answer),
  withinMs = 60_000,
): Promise<T> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${JSON.stringify(answer)}`);
    await pause(ASK_EVERY_MS);
  }
};
