import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';

/** Bounds the look-ups that one worker has under way. */
export type LookUpSemaphore = {
  /** A permit, which the caller releases when its look-up has ended, or the time to ask for a permit again. */
  acquire(): { release(): void } | { at: Instant };
};

/** Work items that found no permit come back in turn, this many a second, because each of them reads its stream first. */
const COME_BACK_PER_SECOND = 50;
/** No turn is further away than this; instead the turns begin again at the next second. */
const FURTHEST_TURN_SECONDS = 30;

/**
 * `permits`: the look-ups that may be under way at once. A caller beyond them gets an instant at least 1 s away. The instants of many callers are
 * spread over the next 30 s.
 */
export const createLookUpSemaphore = (permits: number, clock: Clock): LookUpSemaphore => {
  let taken = 0;
  let assignedInTurn = 0;
  let turnAt: Instant = '';
  const nextTurn = (): Instant => {
    const earliest = addSeconds(clock.now(), 1);
    const isTooFar = turnAt !== '' && isBefore(addSeconds(clock.now(), FURTHEST_TURN_SECONDS), turnAt);
    if (turnAt === '' || isTooFar || isBefore(turnAt, earliest)) {
      turnAt = earliest;
      assignedInTurn = 0;
    }
    if (assignedInTurn >= COME_BACK_PER_SECOND) {
      turnAt = addSeconds(turnAt, 1);
      assignedInTurn = 0;
    }
    assignedInTurn += 1;
    return turnAt;
  };
  return {
    acquire: () => {
      if (taken >= permits) return { at: nextTurn() };
      taken += 1;
      return {
        release: () => {
          taken -= 1;
        },
      };
    },
  };
};

/** Runs the look-up if the worker has a permit for it. Otherwise nothing is done, and the worker comes back later. */
export const withLookUpPermit = async <Result>(
  { lookUpSemaphore }: { lookUpSemaphore?: LookUpSemaphore },
  look: () => Promise<Result>,
): Promise<Result | { kind: 'later'; at: Instant }> => {
  const permit = lookUpSemaphore?.acquire();
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
export const lastLookUpUntil = (now: Instant, since: Instant = now): Instant => {
  const together = addSeconds(since, LAST_LOOK_UPS_SECONDS);
  const atLeast = addSeconds(now, LAST_LOOK_UP_AT_LEAST_SECONDS);
  return isBefore(together, atLeast) ? atLeast : together;
};
