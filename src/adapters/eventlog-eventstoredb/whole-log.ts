import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  type RecordedEvent as ServerEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { EventLogUnavailable, type LogPosition, type RecordedEvent } from '../../ports/event-log.js';
import { callOptions } from './client.js';
import { fromServerEvent, positionOf, toServerPosition } from './events.js';
import { identityStream } from './identity.js';
import { type Inbox, openInbox } from './inbox.js';
import { answered, type Reader } from './read.js';

/** Events looked at per page of the server and, as often, a word on how far it has looked. */
const SEARCH_WINDOW = 1_000;

/** Room for events that nobody has taken yet. */
const ROOM = 1_000;

export type Following = {
  inbox: Inbox;
  /** Comes before everything in the inbox. */
  preface: readonly AllStreamResolvedEvent[];
  /** How far the server has looked, matching or not: never to be handed out, it may be no event of ours. */
  lookedTo(): LogPosition | null;
};

/** Follows the streams of these prefixes, the server choosing; exclusive of `after`. Throws `EventLogUnavailable`. */
export const follow = async (
  reader: Reader,
  prefixes: readonly string[],
  after: LogPosition | null,
): Promise<Following> => {
  const { preface, from } = await beginningBehind(reader, after);
  let lookedTo = from;
  const filter = streamNameFilter({
    prefixes: [...prefixes],
    maxSearchWindow: SEARCH_WINDOW,
    checkpointInterval: 1,
    checkpointReached: (_subscription, { commit }) => {
      if (lookedTo === null || commit > lookedTo) lookedTo = commit as LogPosition;
    },
  });
  const subscription = reader.client.subscribeToAll(
    { ...callOptions(reader), fromPosition: from === null ? START : toServerPosition(from), filter },
    { highWaterMark: ROOM },
  );
  return { inbox: openInbox(subscription), preface, lookedTo: () => lookedTo };
};

/**
 * The server takes the first event at or behind a position for the one that was handled, so when that one has been scavenged
 * it would skip the next. It is looked up first and, if it is another, comes as the preface.
 */
const beginningBehind = async (
  reader: Reader,
  after: LogPosition | null,
): Promise<{ preface: readonly AllStreamResolvedEvent[]; from: LogPosition | null }> => {
  if (after === null) return { preface: [], from: null };
  const options = { ...callOptions(reader), fromPosition: toServerPosition(after), maxCount: 1 };
  const [first] = await answered(reader, () => reader.client.readAll(options));
  const found = first?.event === undefined ? after : positionOf(first.event);
  return found === after || first === undefined ? { preface: [], from: after } : { preface: [first], from: found };
};

/** Ours among what was taken: the server compares prefixes by the rules of a language, we by code units. */
export const eventsOf = (
  taken: readonly AllStreamResolvedEvent[],
  prefixes: readonly string[],
): readonly RecordedEvent[] =>
  taken.flatMap(({ event }) =>
    event !== undefined && prefixes.some((prefix) => event.streamId.startsWith(prefix)) ? [fromServerEvent(event)] : [],
  );

/** The next events behind a position, at least one unless the log ends before. Throws `EventLogUnavailable`. */
export const readBehind = async (
  reader: Reader,
  wanted: { prefixes: readonly string[]; after: LogPosition | null; limit: number },
  signal: AbortSignal,
): Promise<readonly RecordedEvent[]> => {
  if (wanted.limit <= 0) return [];
  const { inbox, preface, lookedTo } = await follow(reader, wanted.prefixes, wanted.after);
  try {
    const events = [...eventsOf(preface, wanted.prefixes)];
    while (events.length < wanted.limit) {
      const taken = inbox.take(wanted.limit - events.length);
      events.push(...eventsOf(taken, wanted.prefixes));
      if (taken.length > 0) continue;
      if (inbox.isCaughtUp() || signal.aborted) break;
      const before = performance.now();
      const looked = lookedTo();
      await inbox.wait(reader.timeoutMs, signal);
      // A server that looks through a long stretch without a match says only how far it is.
      if (performance.now() - before >= reader.timeoutMs && lookedTo() === looked) {
        throw new EventLogUnavailable('the event log did not answer a read in time');
      }
    }
    return events.slice(0, wanted.limit);
  } finally {
    inbox.close();
  }
};

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
  const found = await answered(reader, () => reader.client.readAll(options));
  return found.flatMap(({ event }) => (event === undefined ? [] : [event]));
};
