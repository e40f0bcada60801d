import { createFairLine } from './fair-line.js';

/** Refused because too much waits already: nothing was done, and the same call may be made again a little later. */
export class TooMuchWaits extends Error {
  override readonly name = 'TooMuchWaits';

  constructor(what: string) {
    super(`too much waits: ${what}`);
  }
}

export type FairGateOptions = {
  /** What is refused when too much of it waits. */
  what: string;
  /** Tasks that run at the same time. */
  atOnce: number;
  /** Those of one owner among them. */
  atOnceOfOne: number;
  /** Tasks of one owner that may wait; one more is refused. */
  waitingOfOne: number;
};

export type FairGate = <T>(owner: string, task: () => Promise<T>) => Promise<T>;

/** Lets few tasks run at once; the others wait in turns by owner. Rejects with `TooMuchWaits`, before the task began, or as the task does. */
export const createFairGate = ({ what, atOnce, atOnceOfOne, waitingOfOne }: FairGateOptions): FairGate => {
  const line = createFairLine<() => void>();
  const running = new Map<string, number>();
  let inAll = 0;

  const runningOf = (owner: string): number => running.get(owner) ?? 0;
  const mayGo = (owner: string): boolean => inAll < atOnce && runningOf(owner) < atOnceOfOne;
  const begin = (owner: string): void => {
    inAll += 1;
    running.set(owner, runningOf(owner) + 1);
  };
  const end = (owner: string): void => {
    inAll -= 1;
    const left = runningOf(owner) - 1;
    if (left === 0) running.delete(owner);
    else running.set(owner, left);
    const next = line.next(mayGo);
    if (next === undefined) return;
    begin(next.owner);
    next.item();
  };

  return async (owner, task) => {
    if (mayGo(owner)) begin(owner);
    else {
      if (line.waitingOf(owner) >= waitingOfOne) throw new TooMuchWaits(what);
      // Whoever ends begins for the one in line, so that nobody who comes between takes the place.
      await new Promise<void>((resolve) => line.push(owner, resolve));
    }
    try {
      return await task();
    } finally {
      end(owner);
    }
  };
};
