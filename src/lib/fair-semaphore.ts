/**
 * A queue with turns by owner: an owner's first item waits behind one item of each other owner at most, however many these have. An owner that floods
 * lets the others go first, eight times in a row at most.
 */
type FairQueue<T> = {
  push(owner: string, item: T): void;
  /** Puts an item before the owner's others, and the owner before all others. */
  pushFirst(owner: string, item: T): void;
  /** Takes the next item of an owner that `mayStart` lets through; undefined when no owner has one. */
  next(mayStart?: (owner: string) => boolean): { owner: string; item: T } | undefined;
  /** Removes an item that gave up waiting; has no effect when the item already left the queue. */
  remove(owner: string, item: T): void;
  waitingOf(owner: string): number;
  /** Empties the queue; returns its items in no defined order. */
  takeAll(): readonly T[];
};

export const createFairQueue = <T>(): FairQueue<T> => {
  // A Map keeps insertion order: an owner that had a turn is put behind all others.
  let queues = new Map<string, T[]>();
  const timesPassed = new Map<string, number>();
  const passed = (owner: string): number => timesPassed.get(owner) ?? 0;
  const take = (owner: string): { owner: string; item: T } | undefined => {
    const queue = queues.get(owner) ?? [];
    const item = queue.shift();
    queues.delete(owner);
    timesPassed.delete(owner);
    if (queue.length > 0) queues.set(owner, queue);
    return item === undefined ? undefined : { owner, item };
  };
  return {
    push: (owner, item) => {
      const queue = queues.get(owner);
      if (queue === undefined) queues.set(owner, [item]);
      else queue.push(item);
    },
    pushFirst: (owner, item) => {
      const others = queues.get(owner) ?? [];
      queues.delete(owner);
      queues = new Map([[owner, [item, ...others]], ...queues]);
      timesPassed.set(owner, MOST_PASSED);
    },
    next: (mayStart = () => true) => {
      let flooding: string | undefined;
      for (const [owner, queue] of queues) {
        if (!mayStart(owner)) continue;
        if (queue.length >= FLOODING_FROM && passed(owner) < MOST_PASSED) {
          flooding ??= owner;
          continue;
        }
        if (flooding !== undefined) timesPassed.set(flooding, passed(flooding) + 1);
        return take(owner);
      }
      return flooding === undefined ? undefined : take(flooding);
    },
    remove: (owner, item) => {
      const queue = queues.get(owner) ?? [];
      const at = queue.indexOf(item);
      if (at >= 0) queue.splice(at, 1);
      if (queue.length > 0) return;
      queues.delete(owner);
      timesPassed.delete(owner);
    },
    waitingOf: (owner) => queues.get(owner)?.length ?? 0,
    takeAll: () => {
      const all = [...queues.values()].flat();
      queues = new Map();
      timesPassed.clear();
      return all;
    },
  };
};

/** Thrown when too many tasks wait already. Nothing was done, and the same call may be made again a little later. */
export class TooManyWaiting extends Error {
  override readonly name = 'TooManyWaiting';

  /** `owner`: the tasks of this owner are too many by themselves. `all`: those of all owners are, or take too long. */
  constructor(
    what: string,
    readonly bound: 'owner' | 'all' = 'owner',
  ) {
    super(`too many wait: ${what}`);
  }
}

export type FairSemaphoreOptions = {
  /** Names the tasks in the message of `TooManyWaiting`. */
  what: string;
  atOnce: number;
  perOwner: number;
  /** The same for an owner that was alone during the last 30 s; default: `perOwner`. */
  perOwnerAlone?: number;
  /**
   * While other owners are present, the place of a task stays taken for four times the time that the task took, at most 100 ms, when 8 further tasks
   * of its owner wait. So an owner that floods leaves four fifths of the time of its places to the others. Default: false.
   */
  rests?: boolean;
  /** Tasks of one owner that may wait; one more is refused. */
  waitingPerOwner: number;
  /** Longest wait; a task that waits longer is refused. Default: no limit. */
  longestWaitMs?: number;
  /** Monotonic milliseconds; tests move it. */
  nowMs?: () => number;
  /** Calls back once these milliseconds have passed, unless the function that it gives back was called; default: a timer of Node. */
  after?: (milliseconds: number, callBack: () => void) => () => void;
  /** Shared by semaphores whose tasks use the same engines; default: a new one. */
  presence?: Presence;
};

export type FairSemaphore = <T>(owner: string, task: () => Promise<T>) => Promise<T>;

/** Waiting tasks from which an owner floods. A client that asks for a few documents at a time has fewer. */
const FLOODING_FROM = 8;

/** Others' items that go before the next one of an owner that floods, so that such an owner is served too. */
const MOST_PASSED = 8;

/** Slow engines make every task long, and a rest as long would slow the owner down twice. */
const LONGEST_REST_MS = 100;

/** A fifth of the time of a place is for a flood; with a third of it another company's p99 was still above twice that of quiet times (ADR 29). */
const RESTS_PER_TASK = 4;

/** Milliseconds for which an owner starts nothing after a task. 0 unless at least 8 of its tasks wait and other owners are present. */
export const restMs = (tookMs: number, waiting: number, presence: Presence): number =>
  waiting >= FLOODING_FROM && !presence.isAlone() ? Math.min(RESTS_PER_TASK * tookMs, LONGEST_REST_MS) : 0;

/** An owner that polls every three seconds, as the API asks, counts as present between two polls. */
const PRESENT_FOR_MS = 30_000;

/** A semaphore that is fair to owners, who wait in turns. Rejects with `TooManyWaiting` before the task began, or as the task does. */
export const createFairSemaphore = (options: FairSemaphoreOptions): FairSemaphore => {
  const { what, atOnce, perOwner, perOwnerAlone = perOwner, rests = false, waitingPerOwner, longestWaitMs } = options;
  const nowMs = options.nowMs ?? monotonicMs;
  const after = options.after ?? afterTimer;
  const queue = createFairQueue<() => void>();
  const running = new Map<string, number>();
  const presence = options.presence ?? createPresence(nowMs);
  let inAll = 0;

  const runningOf = (owner: string): number => running.get(owner) ?? 0;
  const hasPlace = (): boolean => inAll < atOnce;
  const mayStart = (owner: string): boolean => runningOf(owner) < (presence.isAlone() ? perOwnerAlone : perOwner);
  const begin = (owner: string): void => {
    inAll += 1;
    running.set(owner, runningOf(owner) + 1);
  };
  const end = (owner: string): void => {
    inAll -= 1;
    const left = runningOf(owner) - 1;
    if (left === 0) running.delete(owner);
    else running.set(owner, left);
    startNext();
  };
  /**
   * A waiting task counts as running before it resumes, so that no other takes its place. Without a place the queue, which takes time, is not asked.
   */
  const startNext = (): void => {
    while (hasPlace()) {
      const turn = queue.next(mayStart);
      if (turn === undefined) return;
      begin(turn.owner);
      turn.item();
    }
  };

  const waitInQueue = (owner: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        queue.remove(owner, turn);
        reject(new TooManyWaiting(what, 'all'));
      };
      const forget = longestWaitMs === undefined ? undefined : after(longestWaitMs, giveUp);
      const turn = (): void => {
        forget?.();
        resolve();
      };
      queue.push(owner, turn);
    });

  return async (owner, task) => {
    presence.see(owner);
    const waiting = queue.waitingOf(owner);
    if (waiting === 0 && hasPlace() && mayStart(owner)) begin(owner);
    else {
      if (waiting >= waitingPerOwner) throw new TooManyWaiting(what);
      const turn = waitInQueue(owner);
      startNext();
      await turn;
    }
    const begunMs = nowMs();
    try {
      return await task();
    } finally {
      const rest = rests ? restMs(nowMs() - begunMs, queue.waitingOf(owner), presence) : 0;
      if (rest > 0) after(rest, () => end(owner));
      else end(owner);
    }
  };
};

const monotonicMs = (): number => performance.now();

const afterTimer = (milliseconds: number, callBack: () => void): (() => void) => {
  const timer = setTimeout(callBack, milliseconds);
  return () => clearTimeout(timer);
};

/** Which owners called during the last 30 s. */
export type Presence = { see(owner: string): void; isAlone(): boolean };

export const createPresence = (nowMs = monotonicMs): Presence => {
  const lastAt = new Map<string, number>();
  return {
    see: (owner) => {
      // Set again at the end, so that the Map starts with the owners that called longest ago.
      lastAt.delete(owner);
      lastAt.set(owner, nowMs());
    },
    isAlone: () => {
      for (const [owner, at] of lastAt) {
        if (nowMs() - at < PRESENT_FOR_MS) break;
        lastAt.delete(owner);
      }
      return lastAt.size <= 1;
    },
  };
};
