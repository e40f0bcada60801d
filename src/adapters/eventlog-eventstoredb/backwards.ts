import { BACKWARDS, END, type RecordedEvent as ServerEvent } from '@eventstore/db-client';
import type { LogPosition, RecordedEvent } from '../../ports/event-log.js';
import { callOptions } from './client.js';
import { fromServerEvent, positionOf, toServerPosition } from './events.js';
import { isLost } from './faults.js';
import { identityStream } from './identity.js';
import { answered, type Reader } from './read.js';

/** Answers where the log ends: the position of the last event that is not the server's own. */
export type HeadFinder = () => Promise<LogPosition | null>;

const FIRST_PAGE = 8;
const LARGEST_PAGE = 4_096;

/**
 * Reads backwards, only what is new since the last look: the server's own events (statistics, metadata, scavenges) may
 * stand behind ours in any number.
 */
export const createHeadFinder = (reader: Reader): HeadFinder => {
  let known: { head: LogPosition | null; newest: LogPosition } | undefined;
  return async () => {
    const before = known;
    let newest: LogPosition | undefined;
    let from: LogPosition | undefined;
    for (let size = FIRST_PAGE; ; size = Math.min(size * 8, LARGEST_PAGE)) {
      const page = await readBackwards(reader, from, size);
      const first = page[0];
      if (newest === undefined && first !== undefined) newest = positionOf(first);
      const seen = newest !== undefined && before?.newest !== undefined && newest >= before.newest ? before : undefined;
      const found = page.find((event) => isOurs(event) || (seen !== undefined && positionOf(event) <= seen.newest));
      const last = page[page.length - 1];
      if (found === undefined && last !== undefined && page.length === size) {
        from = positionOf(last);
        continue;
      }
      const head = found === undefined ? null : isOurs(found) ? positionOf(found) : (seen?.head ?? null);
      if (newest !== undefined) known = { head, newest };
      return head;
    }
  };
};

/** Read backwards until there are enough; the answer is in order of the log. */
export const readLastEvents = async (
  reader: Reader,
  prefixes: readonly string[],
  limit: number,
): Promise<readonly RecordedEvent[]> => {
  const found: RecordedEvent[] = [];
  let from: LogPosition | undefined;
  while (found.length < limit) {
    const page = await readBackwards(reader, from, LARGEST_PAGE);
    const ours = page.filter((event) => isOurs(event) && prefixes.some((prefix) => event.streamId.startsWith(prefix)));
    found.push(...ours.slice(0, limit - found.length).map(fromServerEvent));
    const last = page[page.length - 1];
    if (last === undefined || page.length < LARGEST_PAGE) break;
    from = positionOf(last);
  }
  return found.reverse();
};

const isOurs = ({ streamId }: Pick<ServerEvent, 'streamId'>): boolean =>
  !streamId.startsWith('$') && streamId !== identityStream;

const readBackwards = async (
  reader: Reader,
  from: LogPosition | undefined,
  maxCount: number,
): Promise<readonly ServerEvent[]> => {
  const fromPosition = from === undefined ? END : toServerPosition(from);
  const options = { ...callOptions(reader), direction: BACKWARDS, fromPosition, maxCount } as const;
  const found = await answered(reader, () => reader.client.readAll(options), isLost);
  return found.flatMap(({ event }) => (event === undefined ? [] : [event]));
};
