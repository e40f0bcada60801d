import { LRUCache } from 'lru-cache';
import type { StreamName } from '../../domain/shared/ids.js';
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

  const remember = ({ stream, revision }: RecordedEvent): void => {
    handedOut.set(stream, revision);
  };

  return async (events) => {
    const doubtful: RecordedEvent[] = [];
    const last = new Map<StreamName, Revision>();
    for (const event of events) {
      const { stream, revision } = event;
      const before = last.get(stream) ?? handedOut.get(stream);
      if (revision > 0 && before !== revision - 1) doubtful.push(event);
      last.set(stream, revision);
    }
    const firsts = await firstsOf([...new Set(doubtful.map(({ stream }) => stream))], firstRevision);
    return events.filter((event) => {
      const first = firsts.get(event.stream);
      const shown =
        event.revision === 0 || first === undefined || first <= event.revision || followsHandedOut(handedOut, event);
      if (shown) remember(event);
      return shown;
    });
  };
};

const followsHandedOut = (handedOut: LRUCache<StreamName, Revision>, { stream, revision }: RecordedEvent): boolean =>
  handedOut.get(stream) === revision - 1;

const firstsOf = async (
  streams: readonly StreamName[],
  firstRevision: (stream: StreamName) => Promise<Revision | null>,
): Promise<ReadonlyMap<StreamName, Revision>> => {
  const firsts = new Map<StreamName, Revision>();
  for (let start = 0; start < streams.length; start += AT_ONCE) {
    const some = streams.slice(start, start + AT_ONCE);
    const revisions = await Promise.all(some.map(firstRevision));
    some.forEach((stream, index) => {
      // A stream that has no event left shows nothing.
      firsts.set(stream, revisions[index] ?? Number.POSITIVE_INFINITY);
    });
  }
  return firsts;
};
