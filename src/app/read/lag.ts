import { epochMs, instantOfStamp } from '../../domain/common/time.js';
import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import type { Clock } from '../../ports/clock.js';
import { type EventLog, isEarlier, type LogPosition, type RecordedEvent } from '../../ports/event-log.js';
import { walkLog } from '../event-store/walk-log.js';

/** Seconds of lag from which a reader is late: for readiness, for the console and for `nfse doctor`. */
export const LATE_SECONDS = 30;

/** The lag of a reader in seconds. `prefixes`: the streams that it follows; `position`: the last event that it has handled. */
export type LagReader = (prefixes: readonly string[], position: LogPosition | null) => Promise<number>;

/**
 * The lag is the age of the oldest event of the log that a reader has not handled, and 0 at the head. It is read from the log, so that a dead
 * subscription shows (docs/architecture.md#reading-row-or-fold).
 */
export const createLag = (log: Pick<EventLog, 'hasPlace' | 'head' | 'readAll'>, clock: Clock): LagReader => {
  const firstEvent = createFirstEvent(log);
  const firstUnhandled: typeof firstEvent = (prefixes, position, head) =>
    firstEvent(prefixes, position, head).catch(async (error: unknown) => {
      if (position === null || (await log.hasPlace?.(position)) !== false) throw error;
      // The reader followed an end that the log has lost, so no event of this log counts as handled.
      return await firstEvent(prefixes, null, head);
    });
  return async (prefixes, position) => {
    const head = await log.head();
    const oldest = head === null ? undefined : await firstUnhandled(prefixes, position, head);
    if (oldest === undefined) return 0;
    // No program of ours appended an event without an age, and no reader gets past it.
    return ageOf(oldest, clock) ?? LATE_SECONDS;
  };
};

/** The age in seconds of the first event that a program of ours appended, as its stamp shows. 0 for a log without one. */
export const ageOfLog = async (log: Pick<EventLog, 'readAll'>, clock: Clock): Promise<number> => {
  for await (const page of walkLog(log, ALL_STREAMS)) {
    const age = page.map((event) => ageOf(event, clock)).find((seconds) => seconds !== undefined);
    if (age !== undefined) return age;
  }
  return 0;
};

/** In seconds. Undefined for an event of another program, which has no stamp or another one. */
const ageOf = ({ metadata: { recordedAt } }: RecordedEvent, clock: Clock): number | undefined =>
  recordedAt === undefined || instantOfStamp(recordedAt) === undefined
    ? undefined
    : Math.max(0, (epochMs(clock.now()) - epochMs(recordedAt)) / 1000);

/**
 * Returns a function that finds the first event of these streams after `after`, not after `upTo`. A reader of rare events is far behind the head,
 * and EventStoreDB visits every event between the two. So a stretch without events is remembered and read only once.
 */
export const createFirstEvent = (log: Pick<EventLog, 'readAll'>) => {
  const stretches = new Map<string, { from: LogPosition | null; to: LogPosition }>();
  return async (
    prefixes: readonly string[],
    after: LogPosition | null,
    upTo: LogPosition,
  ): Promise<RecordedEvent | undefined> => {
    const name = prefixes.join(' ');
    const empty = stretches.get(name);
    const isKnown = empty?.from === after && isEarlier(after, empty.to) && !isEarlier(upTo, empty.to);
    const start = isKnown ? empty.to : after;
    if (!isEarlier(start, upTo)) return undefined;
    const [first] = await log.readAll({ prefixes, after: start, limit: 1 });
    if (first !== undefined && !isEarlier(upTo, first.position)) return first;
    stretches.set(name, { from: after, to: upTo });
    return undefined;
  };
};
