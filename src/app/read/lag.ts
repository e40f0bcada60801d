import { epochMs } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import { type EventLog, isEarlier, type LogPosition } from '../../ports/event-log.js';

/** Reads what a reader follows, and how far it has come. */
export type Lag = (prefixes: readonly string[], position: LogPosition | null) => Promise<number>;

/**
 * Age in seconds of the oldest event of the log that a reader has not handled; 0 when it is at the head. Taken from
 * the log itself, so that a dead subscription shows (design section 7). A reader of rare events stands far behind the head, and
 * EventStoreDB looks at every event between the two: so a stretch in which there was nothing for it is looked at once.
 */
export const createLag = (log: Pick<EventLog, 'head' | 'readAll'>, clock: Clock): Lag => {
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
