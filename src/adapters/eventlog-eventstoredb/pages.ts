import { BACKWARDS, END, type ReadAllOptions, type RecordedEvent as ServerEvent, START } from '@eventstore/db-client';
import { watchSilence } from '../../lib/silence.js';
import type { LogPosition, RecordedEvent } from '../../ports/event-log.js';
import { callOptions } from './client.js';
import { fromServerEvent, positionOf, toServerPosition } from './events.js';
import { isAway, isLost, isNoSuchPlace, ServerSilent } from './faults.js';
import { eventsOf, type Following, follow, laterOf, type SelectedBy } from './following.js';
import { identityStream } from './own-events.js';
import { answered, type Reader } from './read.js';

/** The events found after a position. The log was looked at up to `cursor`, which may not be the position of one of our events. */
export type Stretch = { events: readonly RecordedEvent[]; cursor: LogPosition | null; atEnd: boolean };

/** `by` is `stream` unless given. */
type Wanted = { prefixes: readonly string[]; by?: SelectedBy; after: LogPosition | null; limit: number };

/** Events of a page, ours or not. */
const PAGE = { smallest: 64, largest: 500 };

/** When fewer than one in this many events of a page is ours, the server searches for the next. */
const SCARCE = 8;

/**
 * The next `limit` events after a position, fewer at the end of the log or on abort. Reads pages, which the server holds back for a slow reader;
 * where our events are scarce, a subscription lets the server search. When the subscription is lost, pages continue after the last event that came.
 * Throws `EventLogUnavailable`.
 */
export const readAfter = async (reader: Reader, wanted: Wanted, signal: AbortSignal): Promise<Stretch> => {
  const { prefixes, by = 'stream', limit } = wanted;
  const events: RecordedEvent[] = [];
  let cursor = wanted.after;
  let smallest = PAGE.smallest;
  while (events.length < limit && !signal.aborted) {
    const left = limit - events.length;
    const page = await readPage(reader, { prefixes, by, after: cursor, limit: left }, smallest);
    events.push(...page.events);
    cursor = page.cursor;
    if (page.atEnd) return { events, cursor, atEnd: true };
    if (!page.isScarce || events.length >= limit) continue;
    const found = await search(reader, { prefixes, by, after: cursor, limit: limit - events.length }, signal);
    events.push(...found.events);
    cursor = found.cursor;
    if (found.atEnd) return { events, cursor, atEnd: true };
    smallest = PAGE.largest;
  }
  return { events, cursor, atEnd: false };
};

const readPage = async (
  reader: Reader,
  { prefixes, by, after, limit }: Wanted,
  smallest: number,
): Promise<Stretch & { isScarce: boolean }> => {
  const fromPosition = after === null ? START : toServerPosition(after);
  // One more, because a page includes the event at the position itself unless it was scavenged.
  const maxCount = Math.min(PAGE.largest, Math.max(smallest, limit)) + 1;
  const options: ReadAllOptions = { ...callOptions(reader), fromPosition, maxCount };
  const page = await answered(reader, () => reader.client.readAll(options), isLost);
  const following = page.filter(({ event }) => event !== undefined && (after === null || positionOf(event) > after));
  const ours = eventsOf(following, prefixes, by);
  const events = ours.slice(0, limit);
  if (events.length < ours.length) {
    return { events, cursor: events.at(-1)?.position ?? after, atEnd: false, isScarce: false };
  }
  const last = following.at(-1)?.event;
  const cursor = last === undefined ? after : positionOf(last);
  return { events, cursor, atEnd: page.length < maxCount, isScarce: ours.length * SCARCE < following.length };
};

/** Searches until there are enough events, the log ends or the subscription is lost; only the end of the log sets `atEnd`. */
const search = async (
  reader: Reader,
  { prefixes, by, after, limit }: Wanted,
  signal: AbortSignal,
): Promise<Stretch> => {
  const { inbox, missedFirst, serverCursor } = await follow(reader, prefixes, after, by);
  const events = [...eventsOf(missedFirst, prefixes, by)];
  const reached = (): LogPosition | null =>
    events.length >= limit
      ? (events[limit - 1]?.position ?? after)
      : laterOf(events.at(-1)?.position ?? after, serverCursor());
  try {
    while (events.length < limit) {
      const taken = inbox.take(limit - events.length);
      events.push(...eventsOf(taken, prefixes, by));
      if (taken.length > 0) continue;
      if (inbox.isCaughtUp()) return { events, cursor: reached(), atEnd: true };
      if (signal.aborted || inbox.isFull()) break;
      await untilNews(reader, inbox, serverCursor, signal);
    }
  } catch (error) {
    // The page that follows waits for a server that is away, or says that the server does not answer.
    if (!isAway(error) || (error instanceof ServerSilent && reader.patience === undefined)) throw error;
  } finally {
    inbox.close();
  }
  return { events: events.slice(0, limit), cursor: reached(), atEnd: false };
};

/**
 * Resolves when the inbox may have something, or on abort. While the server looks through many events without a match, it only reports its position.
 * Throws `ServerSilent`.
 */
const untilNews = async (
  { timeoutMs }: Reader,
  inbox: Following['inbox'],
  serverCursor: Following['serverCursor'],
  signal: AbortSignal,
): Promise<void> => {
  const silent = new AbortController();
  const looked = serverCursor();
  const silence = watchSilence(timeoutMs, () => silent.abort());
  // Longer than the silence: this one timer fires first only after a pause of this process, and then the caller looks and waits again.
  await inbox.wait(timeoutMs * 2, AbortSignal.any([signal, silent.signal]));
  silence.end();
  if (silent.signal.aborted && serverCursor() === looked) {
    throw new ServerSilent('the event log did not answer a read in time');
  }
};

/** Whether a read can begin at this position. Throws `EventLogUnavailable`. */
export const isPlace = async (reader: Reader, position: LogPosition): Promise<boolean> => {
  const options = { ...callOptions(reader), fromPosition: toServerPosition(position), maxCount: 1 };
  try {
    await answered(reader, () => reader.client.readAll(options), isLost);
    return true;
  } catch (error) {
    if (isNoSuchPlace(error)) return false;
    throw error;
  }
};

/** Events of a page that is read from the end. */
const BACKWARDS_PAGE = { first: 8, largest: 4_096 };

type HeadEvent = Pick<ServerEvent, 'streamId' | 'revision' | 'id'> & { position: LogPosition };

/** `newest`: the last event of the whole log when it was looked at, ours or not. `ours`: the last event of ours. */
type SeenEnd = { ours: HeadEvent | undefined; newest: Pick<ServerEvent, 'id'> & { position: LogPosition } };

/**
 * Finds the position of the last event that is not the server's own. Reads backwards, only what is new since the previous call. Any number of the
 * server's own events (statistics, metadata, scavenges) may follow ours. What the previous call saw counts only where its newest event is still there:
 * the server writes its own events past the end of a log that was set back, so the log may be longer than before and hold less. `onFound`: called with
 * the event at the head each time, also when only the newest event behind it was read again: this shows that the log over this connection holds both.
 */
export const createHeadFinder = (
  reader: Reader,
  onFound: (event: HeadEvent) => void = () => undefined,
): (() => Promise<LogPosition | null>) => {
  let known: SeenEnd | undefined;
  return async () => {
    const before = known;
    const isSeen = (event: ServerEvent): boolean =>
      before !== undefined && positionOf(event) === before.newest.position && event.id === before.newest.id;
    let newest: SeenEnd['newest'] | undefined;
    let from: LogPosition | undefined;
    for (let size = BACKWARDS_PAGE.first; ; size = Math.min(size * 8, BACKWARDS_PAGE.largest)) {
      const page = await readBackwards(reader, from, size);
      const [first] = page;
      if (newest === undefined && first !== undefined) newest = { id: first.id, position: positionOf(first) };
      const found = page.find((event) => isOurs(event) || isSeen(event));
      const last = page.at(-1);
      if (found === undefined && last !== undefined && page.length === size) {
        from = positionOf(last);
        continue;
      }
      const ours = found === undefined ? undefined : isOurs(found) ? headEventOf(found) : before?.ours;
      if (ours !== undefined) onFound(ours);
      if (newest !== undefined) known = { ours, newest };
      return ours?.position ?? null;
    }
  };
};

const headEventOf = (event: ServerEvent): HeadEvent => {
  const { streamId, revision, id } = event;
  return { streamId, revision, id, position: positionOf(event) };
};

/** Reads backwards until `limit` events are found; returns them in order of the log. */
export const readLastEvents = async (
  reader: Reader,
  prefixes: readonly string[],
  limit: number,
): Promise<readonly RecordedEvent[]> => {
  const found: RecordedEvent[] = [];
  let from: LogPosition | undefined;
  while (found.length < limit) {
    const page = await readBackwards(reader, from, BACKWARDS_PAGE.largest);
    const ours = page.filter((event) => isOurs(event) && prefixes.some((prefix) => event.streamId.startsWith(prefix)));
    found.push(...ours.slice(0, limit - found.length).map(fromServerEvent));
    const last = page.at(-1);
    if (last === undefined || page.length < BACKWARDS_PAGE.largest) break;
    from = positionOf(last);
  }
  return found.reverse();
};

/** The server's mark of a stream that a person deleted for good is in that stream. */
const isOurs = ({ streamId, type }: Pick<ServerEvent, 'streamId' | 'type'>): boolean =>
  !streamId.startsWith('$') && !type.startsWith('$') && streamId !== identityStream;

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
