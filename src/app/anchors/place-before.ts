import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { LogPosition } from '../../ports/event-log.js';
import type { EventStore } from '../event-store/event-store.js';
import { lastAnchorBefore } from './anchor-log.js';

/** By so much the clocks of two processes never differ: order of positions is order of commits, not of recorded times. */
const CLOCKS_APART_SECONDS = 86_400;

/**
 * A place behind which every event stands that was recorded at `since` or later, whichever engine keeps the log; null: its
 * beginning. What an anchor covers had been appended when the anchor was made, so one made well before `since` will do.
 */
export const placeBefore = async (since: Instant, store: EventStore): Promise<LogPosition | null> => {
  const sureBy = addSeconds(since, -CLOCKS_APART_SECONDS);
  const anchor = await lastAnchorBefore(sureBy, store);
  // One that was begun before midnight may have been made after it.
  return anchor === undefined || anchor.at > sureBy ? null : (BigInt(anchor.upTo) as LogPosition);
};
