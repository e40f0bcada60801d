import {
  type AllStreamResolvedEvent,
  type RecordedEvent as ServerEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import type { LogPosition, RecordedEvent } from '../../ports/event-log.js';
import { callOptions } from './client.js';
import { fromServerEvent, positionOf, toServerPosition } from './events.js';
import { isLost } from './faults.js';
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
  /**
   * How far the server has looked, matching or not, as of when the inbox was last empty: never to be handed out, it may be no
   * event of ours.
   */
  lookedTo(): LogPosition | null;
};

/** Follows the streams of these prefixes, the server choosing; exclusive of `after`. Throws `EventLogUnavailable`. */
export const follow = async (
  reader: Reader,
  prefixes: readonly string[],
  after: LogPosition | null,
): Promise<Following> => {
  const { preface, from } = await beginningBehind(reader, after);
  let said = from;
  let sure = from;
  const filter = streamNameFilter({
    prefixes: [...prefixes],
    maxSearchWindow: SEARCH_WINDOW,
    checkpointInterval: 1,
    checkpointReached: (_subscription, { commit }) => {
      said = laterOf(said, commit as LogPosition);
    },
  });
  const subscription = reader.client.subscribeToAll(
    { ...callOptions(reader), fromPosition: from === null ? START : toServerPosition(from), filter },
    { highWaterMark: ROOM },
  );
  const inbox = openInbox(subscription, ROOM);
  return {
    inbox,
    preface,
    lookedTo: () => {
      // A word overtakes the events before it that still wait.
      if (inbox.isEmpty() && !inbox.isFull()) sure = laterOf(sure, said);
      return sure;
    },
  };
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
  const [first] = await answered(reader, () => reader.client.readAll(options), isLost);
  const found = first?.event === undefined ? after : positionOf(first.event);
  return found === after || first === undefined ? { preface: [], from: after } : { preface: [first], from: found };
};

/** Ours among what was taken: the server compares prefixes by the rules of a language, we by code units. */
export const eventsOf = (
  taken: readonly { event?: ServerEvent }[],
  prefixes: readonly string[],
): readonly RecordedEvent[] =>
  taken.flatMap(({ event }) =>
    event !== undefined && prefixes.some((prefix) => event.streamId.startsWith(prefix)) ? [fromServerEvent(event)] : [],
  );

export const laterOf = (a: LogPosition | null, b: LogPosition | null): LogPosition | null =>
  a === null || (b !== null && b > a) ? b : a;
