import type { StreamName } from '../../domain/common/ids.js';
import { EventLogUnavailable, type LogPosition, type RecordedEvent, type Revision } from '../../ports/event-log.js';
import { readAfter, type Stretch } from './pages.js';
import type { Reader } from './read.js';

/** Types of the server's own events by which a person hides events of a stream: its metadata, and the mark of one that was deleted for good. */
const MARKS = ['$metadata', '$streamDeleted'];

const MARKS_AT_ONCE = 500;

/** First revision that the metadata leave visible; undefined where only a read of the stream can tell, as with `$maxAge` or `$maxCount`. */
const firstLeft = ({ data }: RecordedEvent): Revision | undefined => {
  if (data.$maxAge !== undefined || data.$maxCount !== undefined) return undefined;
  return data.$tb === undefined ? 0 : typeof data.$tb === 'number' ? data.$tb : undefined;
};

/**
 * The streams with these prefixes of which a person or retention has hidden the beginning or all, each with the first revision that a read of the
 * stream may still find; null for one that was deleted for good. The server looks for the marks, so that no other stream is read. Throws
 * `EventLogUnavailable`.
 */
export const readHidden = async (
  reader: Reader,
  prefixes: readonly string[],
  firstRevision: (stream: StreamName) => Promise<Revision | null>,
  signal: AbortSignal,
): Promise<ReadonlyMap<StreamName, Revision | null>> => {
  const found = new Map<StreamName, Revision | null>();
  const unclear = new Set<StreamName>();
  let after: LogPosition | null = null;
  for (let atEnd = false; !atEnd; ) {
    const wanted = { prefixes: MARKS, by: 'own type', after, limit: MARKS_AT_ONCE } as const;
    const stretch: Stretch = await readAfter(reader, wanted, signal);
    if (signal.aborted) throw new EventLogUnavailable('the event log is closed');
    for (const event of stretch.events) {
      const isMetadata = event.stream.startsWith('$$');
      const stream: StreamName = isMetadata ? event.stream.slice(2) : event.stream;
      if (!prefixes.some((prefix) => stream.startsWith(prefix))) continue;
      const first = isMetadata ? firstLeft(event) : null;
      unclear.delete(stream);
      if (first === 0) found.delete(stream);
      else if (first === undefined) unclear.add(stream);
      else found.set(stream, first);
    }
    after = stretch.cursor;
    atEnd = stretch.atEnd;
  }
  for (const stream of unclear) {
    const first = await firstRevision(stream);
    if (first === 0) found.delete(stream);
    // A stream that was deleted for good has a mark, so here the metadata hide every event, and they can be taken back.
    else found.set(stream, first ?? Number.MAX_SAFE_INTEGER);
  }
  return found;
};
