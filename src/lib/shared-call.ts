import { pause } from './pause.js';

/**
 * Returns a call whose answer callers share when they come at once. No caller gets an answer that was begun before it asked. Calls begin one at a time,
 * at least `apartMs` apart. Rejects as `ask` does; `ask` has to settle.
 */
export const sharedCall = <T>(ask: () => Promise<T>, apartMs: number): (() => Promise<T>) => {
  let free: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= free.then(() => {
      next = undefined;
      const answer = ask();
      free = Promise.allSettled([answer, pause(apartMs)]);
      return answer;
    });
    return next;
  };
};
