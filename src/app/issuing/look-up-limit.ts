import type { Mode } from '../../domain/common/ids.js';
import { addSeconds, type Instant, isBefore, isWithin, laterOf } from '../../domain/common/time.js';
import { testPlacesOf } from '../../lib/lanes.js';
import type { Caller } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';

/** Bounds the look-ups that one worker has under way. */
export type LookUpSemaphore = {
  /** A permit, which the caller releases when its look-up has ended, or the time to ask for a permit again. */
  acquire(caller: Caller): { release(): void } | { at: Instant };
};

/** Work items that found no permit come back in turn, this many a second, because each of them reads its stream first. */
const COME_BACK_PER_SECOND = 50;
/** No turn is further away than this; instead the turns begin again at the next second. */
const FURTHEST_TURN_SECONDS = 30;
/** A company waits no longer than this after its work item should have come back, because the work may have ended in another way. */
const WAITING_SECONDS = 10;

/** A company without a permit for one of its work items, which comes back at `comesAt` for the next permit that ends. */
type Waiting = { mode: Mode; since: Instant; comesAt: Instant };

/**
 * `permits`: the look-ups that may be under way at once. A caller beyond them gets an instant at least 1 s away. The instants of many callers are
 * spread over the next 30 s. A quarter of the permits is never given to test mode, and a permit that ends is kept for a company that waits and has
 * fewer. The callers do not wait here as in `createFairSemaphore`, because each of them has a place of the queue, which sends need.
 */
export const createLookUpSemaphore = (permits: number, clock: Clock): LookUpSemaphore => {
  const taken: Record<Mode, number> = { live: 0, test: 0 };
  const takenBy = new Map<string, number>();
  const waiting = new Map<string, Waiting>();
  const nextTurn = createComeBackTurns(clock);

  const permitsOf = (owner: string): number => takenBy.get(owner) ?? 0;

  /** Companies that wait in this mode with fewer permits than the owner. */
  const waitingBefore = (owner: string, mode: Mode): number =>
    [...waiting].filter(([other, entry]) => entry.mode === mode && permitsOf(other) < permitsOf(owner)).length;

  const mayTake = (owner: string, mode: Mode): boolean => {
    // Many companies may wait, and they are looked through only while a permit is free.
    if (permits - taken.live - taken.test <= 0) return false;
    const testLeft = testPlacesOf(permits) - taken.test;
    const testWaiting = Math.min(testLeft, waitingBefore(owner, 'test'));
    const left = permits - taken.live - taken.test - waitingBefore(owner, 'live') - testWaiting;
    return left > 0 && (mode === 'live' || testLeft > testWaiting);
  };

  let lookedThroughAt: Instant = '';
  const dropLapsed = (now: Instant): void => {
    if (lookedThroughAt !== '' && isWithin(now, lookedThroughAt, addSeconds(lookedThroughAt, 1))) return;
    lookedThroughAt = now;
    for (const [owner, { since, comesAt }] of waiting) {
      if (!isWithin(now, since, addSeconds(comesAt, WAITING_SECONDS))) waiting.delete(owner);
    }
  };

  const take = (owner: string, mode: Mode): { release(): void } => {
    waiting.delete(owner);
    taken[mode] += 1;
    takenBy.set(owner, permitsOf(owner) + 1);
    return {
      release: () => {
        taken[mode] -= 1;
        const left = permitsOf(owner) - 1;
        if (left === 0) takenBy.delete(owner);
        else takenBy.set(owner, left);
      },
    };
  };

  /** One work item of each company comes back within a second, or later while more companies wait than may come back in a second. */
  const comeBackAt = (owner: string, mode: Mode, now: Instant): Instant => {
    const entry = waiting.get(owner);
    if (entry !== undefined && isBefore(now, entry.comesAt)) return nextTurn();
    waiting.delete(owner);
    const comesAt = addSeconds(now, Math.ceil((waiting.size + 1) / COME_BACK_PER_SECOND));
    waiting.set(owner, { mode, since: now, comesAt });
    return comesAt;
  };

  return {
    acquire: ({ mode, companyId }) => {
      const owner = `${mode} ${companyId}`;
      const now = clock.now();
      dropLapsed(now);
      return mayTake(owner, mode) ? take(owner, mode) : { at: comeBackAt(owner, mode, now) };
    },
  };
};

/** Turns are a second apart or more, so that no second has more come-backs than one turn holds. */
const createComeBackTurns = (clock: Clock) => {
  let assignedInTurn = 0;
  let turnAt: Instant = '';
  const begin = (at: Instant): void => {
    turnAt = at;
    assignedInTurn = 0;
  };
  return (): Instant => {
    const now = clock.now();
    const earliest = addSeconds(now, 1);
    const furthest = addSeconds(now, FURTHEST_TURN_SECONDS);
    const isAhead = turnAt !== '' && !isBefore(turnAt, now) && !isBefore(furthest, turnAt);
    if (!isAhead) begin(earliest);
    else if (isBefore(turnAt, earliest) || assignedInTurn >= COME_BACK_PER_SECOND) begin(addSeconds(turnAt, 1));
    assignedInTurn += 1;
    return turnAt;
  };
};

/** Runs the look-up if the worker has a permit for it. Otherwise nothing is done, and the worker comes back later. */
export const withLookUpPermit = async <Result>(
  { lookUpSemaphore }: { lookUpSemaphore?: LookUpSemaphore },
  caller: Caller,
  look: () => Promise<Result>,
): Promise<Result | { kind: 'later'; at: Instant }> => {
  const permit = lookUpSemaphore?.acquire(caller);
  if (permit !== undefined && 'at' in permit) return { kind: 'later', at: permit.at };
  try {
    return await look();
  } finally {
    permit?.release();
  }
};

/** Time for the answers of all last look-ups that begin together. */
const LAST_LOOK_UPS_SECONDS = 5;
/** The least time of each last look-up, however many began before it. */
const LAST_LOOK_UP_AT_LEAST_SECONDS = 2;

/** When a last look-up that begins at `now` is given up. It shares its time with all last look-ups since `since`. */
export const lastLookUpUntil = (now: Instant, since: Instant = now): Instant =>
  laterOf(addSeconds(since, LAST_LOOK_UPS_SECONDS), addSeconds(now, LAST_LOOK_UP_AT_LEAST_SECONDS));
