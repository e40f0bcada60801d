import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { IssuerDeps, Next } from './deps.js';

/** The look-ups that one worker may have under way. */
export type LookUpPlaces = {
  /** A place, to be left when the look-up has ended; or the time to ask for a place again. */
  take(): { leave(): void } | { at: Instant };
};

/** Those who found no place come back in turn, so many a second: each of them reads its stream first. */
const COME_BACK_PER_SECOND = 50;
/** No turn is further away than this; after it the turns begin again at the next second. */
const FURTHEST_TURN_SECONDS = 30;

export const createLookUpPlaces = (places: number, clock: Clock): LookUpPlaces => {
  let taken = 0;
  let toldInTurn = 0;
  let turnAt: Instant = '';
  const nextTurn = (): Instant => {
    const earliest = addSeconds(clock.now(), 1);
    const isTooFar = turnAt !== '' && isBefore(addSeconds(clock.now(), FURTHEST_TURN_SECONDS), turnAt);
    if (turnAt === '' || isTooFar || isBefore(turnAt, earliest)) {
      turnAt = earliest;
      toldInTurn = 0;
    }
    if (toldInTurn >= COME_BACK_PER_SECOND) {
      turnAt = addSeconds(turnAt, 1);
      toldInTurn = 0;
    }
    toldInTurn += 1;
    return turnAt;
  };
  return {
    take: () => {
      if (taken >= places) return { at: nextTurn() };
      taken += 1;
      return {
        leave: () => {
          taken -= 1;
        },
      };
    },
  };
};

/** Looks up where the worker has a place for it; else nothing was done, and the worker comes back later. */
export const inLookUpPlace = async (
  { lookUpPlaces }: Pick<IssuerDeps, 'lookUpPlaces'>,
  look: () => Promise<unknown>,
): Promise<Next | 'look again'> => {
  const place = lookUpPlaces?.take();
  if (place !== undefined && 'at' in place) return { kind: 'later', at: place.at };
  try {
    await look();
    return 'look again';
  } finally {
    place?.leave();
  }
};

/** What the last look-ups that begin together have for their answers. */
const LAST_LOOKS_SECONDS = 5;
/** What each of them has at least, however many were before it. */
const LAST_LOOK_AT_LEAST_SECONDS = 2;

/** When the look-up before a verdict is given up, if it begins `now` and shares its time with all since `since`. */
export const lastLookUntil = (now: Instant, since: Instant = now): Instant => {
  const together = addSeconds(since, LAST_LOOKS_SECONDS);
  const atLeast = addSeconds(now, LAST_LOOK_AT_LEAST_SECONDS);
  return isBefore(together, atLeast) ? atLeast : together;
};
