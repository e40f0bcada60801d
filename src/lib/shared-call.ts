import { pause } from './pause.js';

/** Callers that come at once share an answer, none that was begun before they asked. Calls begin `apartMs` apart; `ask` has to settle. */
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
