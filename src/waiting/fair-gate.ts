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
  /** The same of an owner that was alone for the last seconds; default: no difference. */
  atOnceAlone?: number;
  /** Tasks of one owner that may wait; one more is refused. */
  waitingOfOne: number;
  /** Monotonic milliseconds; tests move it. */
  nowMs?: () => number;
  /** Shared by gates whose tasks use the same engines; default: one of its own. */
  presence?: Presence;
};

export type FairGate = <T>(owner: string, task: () => Promise<T>) => Promise<T>;

/** An owner who polls as the API asks for, every three seconds or slower, is not gone between two polls. */
const STILL_HERE_MS = 30_000;

/** Lets few tasks run at once; the others wait in turns by owner. Rejects with `TooMuchWaits`, before the task began, or as the task does. */
export const createFairGate = (options: FairGateOptions): FairGate => {
  const { what, atOnce, atOnceOfOne, atOnceAlone = atOnceOfOne, waitingOfOne } = options;
  const line = createFairLine<() => void>();
  const running = new Map<string, number>();
  const presence = options.presence ?? createPresence(options.nowMs);
  let inAll = 0;

  const runningOf = (owner: string): number => running.get(owner) ?? 0;
  const mayGo = (owner: string): boolean =>
    inAll < atOnce && runningOf(owner) < (presence.isAlone() ? atOnceAlone : atOnceOfOne);
  const begin = (owner: string): void => {
    inAll += 1;
    running.set(owner, runningOf(owner) + 1);
  };
  const end = (owner: string): void => {
    inAll -= 1;
    const left = runningOf(owner) - 1;
    if (left === 0) running.delete(owner);
    else running.set(owner, left);
    letIn();
  };
  /** Whoever lets in begins for the one in line, so that nobody who comes between takes the place. */
  const letIn = (): void => {
    for (let turn = line.next(mayGo); turn !== undefined; turn = line.next(mayGo)) {
      begin(turn.owner);
      turn.item();
    }
  };

  return async (owner, task) => {
    presence.note(owner);
    const waiting = line.waitingOf(owner);
    if (waiting === 0 && mayGo(owner)) begin(owner);
    else {
      if (waiting >= waitingOfOne) throw new TooMuchWaits(what);
      const turn = new Promise<void>((resolve) => line.push(owner, resolve));
      letIn();
      await turn;
    }
    try {
      return await task();
    } finally {
      end(owner);
    }
  };
};

/** Which owners came in the last seconds. */
export type Presence = { note(owner: string): void; isAlone(): boolean };

export const createPresence = (nowMs: () => number = () => performance.now()): Presence => {
  const lastAt = new Map<string, number>();
  return {
    note: (owner) => {
      // In the order of their last coming, so that those who are gone are the first ones.
      lastAt.delete(owner);
      lastAt.set(owner, nowMs());
    },
    isAlone: () => {
      for (const [owner, at] of lastAt) {
        if (nowMs() - at < STILL_HERE_MS) break;
        lastAt.delete(owner);
      }
      return lastAt.size <= 1;
    },
  };
};
