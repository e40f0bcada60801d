import { LRUCache } from 'lru-cache';
import type { StreamName } from '../../domain/common/ids.js';
import { inGroups } from '../../lib/in-groups.js';
import type { RecordedEvent, Revision } from '../../ports/event-log.js';

/** Returns the events of a batch that may be handed out. */
export type StreamStartFilter = (events: readonly RecordedEvent[]) => Promise<readonly RecordedEvent[]>;

/** Streams remembered per reader; a forgotten stream costs a read of its first event. */
const STREAMS_KEPT = 20_000;

/** Streams whose first event is read at the same time. */
const AT_ONCE = 16;

/**
 * Hides what is left of a stream's cut events. Scavenging works chunk by chunk: earlier cut events may be gone from the whole log while later ones
 * still show, and a stream cannot be folded without its beginning. An event that does not follow one that this reader handed out is shown only if the
 * stream itself still has it.
 */
export const createStreamStartFilter = (
  firstRevision: (stream: StreamName) => Promise<Revision | null>,
  streamsKept = STREAMS_KEPT,
): StreamStartFilter => {
  const handedOut = new LRUCache<StreamName, Revision>({ max: Math.max(1, streamsKept) });

  return async (events) => {
    const doubtful: RecordedEvent[] = [];
    const last = new Map<StreamName, Revision>();
    for (const event of events) {
      const { stream, revision } = event;
      const before = last.get(stream) ?? handedOut.get(stream);
      if (revision > 0 && before !== revision - 1) doubtful.push(event);
      last.set(stream, revision);
    }
    const streams = [...new Set(doubtful.map(({ stream }) => stream))];
    const firsts = new Map(
      // A stream that has no event left shows nothing.
      await inGroups(
        AT_ONCE,
        streams,
        async (stream) => [stream, (await firstRevision(stream)) ?? Number.POSITIVE_INFINITY] as const,
      ),
    );
    return events.filter(({ stream, revision }) => {
      const first = firsts.get(stream);
      const follows = handedOut.get(stream) === revision - 1;
      const shown = revision === 0 || first === undefined || first <= revision || follows;
      if (shown) handedOut.set(stream, revision);
      return shown;
    });
  };
};
