import { invoicePrefix } from '../../domain/shared/ids.js';
import { type Instant, isBefore } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import { type EventLog, isEarlier, type LogPosition } from '../../ports/event-log.js';
import type { GuardsSession } from '../../ports/guards-record.js';
import { acceptedGuards, type GuardWindows, neededSince } from './accepted-guards.js';

export type ReplayDeps = {
  log: Pick<EventLog, 'readAll'>;
  session: Pick<GuardsSession, 'fill' | 'move'>;
  clock: Clock;
  windows: GuardWindows;
  /** A place before which no event was recorded at the instant or later; null when none is known. */
  placeBefore(since: Instant): Promise<LogPosition | null>;
};

export type ReplayStep = {
  /** The guards of everything up to here are in R. */
  position: LogPosition;
  /** Rows that were missing. */
  filled: number;
};

/** Events in memory at once. */
const PAGE = 500;

/**
 * Puts the guards of the log's events behind `after`, at least up to `upTo`, back into R, page by page; the position moves
 * with each, so that whoever comes next goes on there. A long stretch that is too old to count is skipped. Ends early when the
 * consumer stops.
 */
export async function* replayGuards(
  after: LogPosition | null,
  upTo: LogPosition,
  { log, session, clock, windows, placeBefore }: ReplayDeps,
): AsyncGenerator<ReplayStep, void> {
  let position = after;
  let mayBeOld = true;
  while (isEarlier(position, upTo)) {
    const page = await log.readAll({ prefixes: Object.values(invoicePrefix), after: position, limit: PAGE });
    const now = clock.now();
    const { keys, marks } = await acceptedGuards(page, windows, now);
    const filled = await session.fill(keys, marks, now);
    const last = page[page.length - 1];
    // No invoice's event is left before the end.
    position = last?.position ?? upTo;
    const since = neededSince(windows, now);
    if (mayBeOld && page.length === PAGE && last !== undefined && isBefore(last.metadata.recordedAt ?? now, since)) {
      // Asked once: it takes a look at each day.
      mayBeOld = false;
      const place = await placeBefore(since);
      if (place !== null && isEarlier(position, place)) position = isEarlier(place, upTo) ? place : upTo;
    }
    await session.move({ guards: position, operatorRows: null });
    yield { position, filled };
  }
}
