import { setImmediate as nextTurn } from 'node:timers/promises';

/** Requests wait behind each turn of the event loop, so long work shares them: a turn of a few milliseconds is not felt. */
const LONGEST_MS = 3;

/** Long work calls the result between two small steps: it ends the turn of the event loop once the steps of this turn have lasted 3 ms. */
export const createShortTurns = (
  nowMs: () => number = () => performance.now(),
  turn: () => Promise<unknown> = () => nextTurn(),
) => {
  let begunMs = nowMs();
  return async (): Promise<void> => {
    if (nowMs() - begunMs < LONGEST_MS) return;
    await turn();
    begunMs = nowMs();
  };
};
