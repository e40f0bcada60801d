import { invoicePrefix } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import { type EventLog, isEarlier, type LogPosition } from '../../ports/event-log.js';
import type { GuardsSession } from '../../ports/guards-record.js';
import { acceptedGuards, type GuardWindows } from './accepted-guards.js';

export type ReplayDeps = {
  log: Pick<EventLog, 'readAll'>;
  session: Pick<GuardsSession, 'fill' | 'move'>;
  clock: Clock;
  windows: GuardWindows;
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
 * with each, so that whoever comes next goes on there. A beginning that is not before `upTo` says that nothing is left to put back.
 * Ends early when the consumer stops.
 */
export async function* replayGuards(
  after: LogPosition | null,
  upTo: LogPosition,
  { log, session, clock, windows }: ReplayDeps,
): AsyncGenerator<ReplayStep, void> {
  let position = after;
  if (!isEarlier(position, upTo)) {
    await session.move({ guards: upTo, operatorRows: null });
    yield { position: upTo, filled: 0 };
  }
  while (isEarlier(position, upTo)) {
    const page = await log.readAll({ prefixes: Object.values(invoicePrefix), after: position, limit: PAGE });
    const now = clock.now();
    const { keys, marks } = await acceptedGuards(page, windows, now);
    const filled = await session.fill(keys, marks, now);
    const last = page[page.length - 1]?.position;
    // No invoice's event is left before the end.
    position = last ?? upTo;
    await session.move({ guards: position, operatorRows: null });
    yield { position, filled };
  }
}
