import type { StreamName } from '../../domain/shared/ids.js';
import type { RecordedEvent, Revision } from '../../ports/event-log.js';

/** Answers with those of a batch that may be handed out. */
export type Beginnings = (events: readonly RecordedEvent[]) => Promise<readonly RecordedEvent[]>;

/** Streams remembered per reader; one that was forgotten costs a look at its first event. */
const REMEMBERED = 20_000;

/** Looks at this many streams at once. */
const AT_ONCE = 16;

/**
 * Hides the rest of what was cut. Scavenging works chunk by chunk, so of the cut events of a stream the earlier may be gone
 * from the whole log while the later still show, and nobody can fold a stream without its beginning. An event that does not
 * follow one that this reader was given is shown only if the stream itself still has it.
 */
export const createBeginnings = (firstRevision: (stream: StreamName) => Promise<Revision | null>): Beginnings => {
  const given = new Map<StreamName, Revision>();

  const remember = ({ stream, revision }: RecordedEvent): void => {
    given.delete(stream);
    given.set(stream, revision);
    if (given.size <= REMEMBERED) return;
    const [oldest] = given.keys();
    if (oldest !== undefined) given.delete(oldest);
  };

  return async (events) => {
    const doubtful: RecordedEvent[] = [];
    const last = new Map<StreamName, Revision>();
    for (const event of events) {
      const { stream, revision } = event;
      const before = last.get(stream) ?? given.get(stream);
      if (revision > 0 && before !== revision - 1) doubtful.push(event);
      last.set(stream, revision);
    }
    const firsts = await firstsOf([...new Set(doubtful.map(({ stream }) => stream))], firstRevision);
    return events.filter((event) => {
      const first = firsts.get(event.stream);
      const shown = event.revision === 0 || first === undefined || first <= event.revision || isGiven(given, event);
      if (shown) remember(event);
      return shown;
    });
  };
};

const isGiven = (given: ReadonlyMap<StreamName, Revision>, { stream, revision }: RecordedEvent): boolean =>
  given.get(stream) === revision - 1;

const firstsOf = async (
  streams: readonly StreamName[],
  firstRevision: (stream: StreamName) => Promise<Revision | null>,
): Promise<ReadonlyMap<StreamName, Revision>> => {
  const firsts = new Map<StreamName, Revision>();
  for (let start = 0; start < streams.length; start += AT_ONCE) {
    const some = streams.slice(start, start + AT_ONCE);
    const revisions = await Promise.all(some.map(firstRevision));
    some.forEach((stream, index) => {
      // A stream of which nothing is left shows nothing.
      firsts.set(stream, revisions[index] ?? Number.POSITIVE_INFINITY);
    });
  }
  return firsts;
};
