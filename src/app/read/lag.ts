import { epochMs } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import { type EventLog, isEarlier, type LogPosition } from '../../ports/event-log.js';

/** The lag of a reader in seconds. `prefixes`: the streams that it follows; `position`: the last event that it has handled. */
export type LagReader = (prefixes: readonly string[], position: LogPosition | null) => Promise<number>;

/**
 * The lag is the age of the oldest event of the log that a reader has not handled, and 0 at the head. It is read from the log, so that a dead
 * subscription shows (docs/architecture.md#reading-row-or-fold). A reader of rare events is far behind the head, and EventStoreDB visits every
 * event between the two. So a stretch without events for the reader is remembered and read only once.
 */
export const createLag = (log: Pick<EventLog, 'head' | 'readAll'>, clock: Clock): LagReader => {
  type Empty = { from: LogPosition | null; to: LogPosition };
  const stretches = new Map<string, Empty>();
  return async (prefixes, position) => {
    const head = await log.head();
    if (head === null || head === position) return 0;
    const name = prefixes.join(' ');
    const empty = stretches.get(name);
    const isKnown = empty !== undefined && empty.from === position && !isEarlier(head, empty.to);
    const after = isKnown ? empty.to : position;
    if (after === head) return 0;
    const [oldest] = await log.readAll({ prefixes, after, limit: 1 });
    if (oldest === undefined) {
      stretches.set(name, { from: position, to: head });
      return 0;
    }
    const now = clock.now();
    return Math.max(0, (epochMs(now) - epochMs(oldest.metadata.recordedAt ?? now)) / 1000);
  };
};
