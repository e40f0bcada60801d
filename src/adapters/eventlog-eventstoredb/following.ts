import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  eventTypeFilter,
  type RecordedEvent as ServerEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import type { LogPosition, RecordedEvent } from '../../ports/event-log.js';
import { callOptions } from './client.js';
import { fromServerEvent, positionOf, toServerPosition } from './events.js';
import { isLost, StreamLost, unavailable } from './faults.js';
import { answered, type Reader } from './read.js';

/** Events that the server looks at per page; it reports its position after each page. */
const SEARCH_WINDOW = 1_000;

/** Limit of the events that wait in the inbox. */
const INBOX_LIMIT = 1_000;

export type Following = {
  inbox: ReturnType<typeof openInbox>;
  /** Events that come before everything in the inbox. */
  missedFirst: readonly AllStreamResolvedEvent[];
  /**
   * The position up to which the server had looked when the inbox was last empty. Never hand it out, because it may not be the position of one of our
   * events.
   */
  serverCursor(): LogPosition | null;
};

/** What the prefixes select by: names of our streams, or types of the server's own events, in any stream. */
export type SelectedBy = 'stream' | 'own type';

/** Follows the events that the prefixes select, beginning after the position `after`; the server selects them. Throws `EventLogUnavailable`. */
export const follow = async (
  reader: Reader,
  prefixes: readonly string[],
  after: LogPosition | null,
  by: SelectedBy = 'stream',
): Promise<Following> => {
  const { missedFirst, from } = await startAfter(reader, after);
  let reportedPosition = from;
  let safePosition = from;
  const filterOf = by === 'stream' ? streamNameFilter : eventTypeFilter;
  const filter = filterOf({
    prefixes: [...prefixes],
    maxSearchWindow: SEARCH_WINDOW,
    checkpointInterval: 1,
    checkpointReached: (_subscription, { commit }) => {
      reportedPosition = laterOf(reportedPosition, commit as LogPosition);
    },
  });
  const subscription = reader.client.subscribeToAll(
    { ...callOptions(reader), fromPosition: from === null ? START : toServerPosition(from), filter },
    { highWaterMark: INBOX_LIMIT },
  );
  const inbox = openInbox(subscription, INBOX_LIMIT);
  return {
    inbox,
    missedFirst,
    serverCursor: () => {
      // A reported position overtakes earlier events that still wait in the inbox.
      if (inbox.isEmpty() && !inbox.isFull()) safePosition = laterOf(safePosition, reportedPosition);
      return safePosition;
    },
  };
};

/**
 * The server treats the first event at or after a position as handled already, so it would skip an event when the handled one has been scavenged.
 * That first event is read beforehand and, if it is another, is handed out first (`missedFirst`).
 */
const startAfter = async (
  reader: Reader,
  after: LogPosition | null,
): Promise<{ missedFirst: readonly AllStreamResolvedEvent[]; from: LogPosition | null }> => {
  if (after === null) return { missedFirst: [], from: null };
  const options = { ...callOptions(reader), fromPosition: toServerPosition(after), maxCount: 1 };
  const [first] = await answered(reader, () => reader.client.readAll(options), isLost);
  const found = first?.event === undefined ? after : positionOf(first.event);
  return found === after || first === undefined
    ? { missedFirst: [], from: after }
    : { missedFirst: [first], from: found };
};

/**
 * Selects the events again, because the server compares prefixes by the rules of a language and this log by code units. The server's own types begin
 * with `$`: its mark of a stream that a person deleted for good is in that stream.
 */
export const eventsOf = (
  taken: readonly { event?: ServerEvent }[],
  prefixes: readonly string[],
  by: SelectedBy = 'stream',
): readonly RecordedEvent[] =>
  taken.flatMap(({ event }) => {
    if (event === undefined || event.type.startsWith('$') !== (by === 'own type')) return [];
    const text = by === 'stream' ? event.streamId : event.type;
    return prefixes.some((prefix) => text.startsWith(prefix)) ? [fromServerEvent(event)] : [];
  });

export const laterOf = (a: LogPosition | null, b: LogPosition | null): LogPosition | null =>
  a === null || (b !== null && b > a) ? b : a;

/**
 * The events that a subscription has brought and the reader has not taken, at most `room`. They leave the connection at once, however busy the reader
 * is, because the server ends a subscription whose events are not taken.
 */
const openInbox = (subscription: AllStreamSubscription, room: number) => {
  const waiting: AllStreamResolvedEvent[] = [];
  let failure: Error | undefined;
  let full = false;
  let caughtUp = false;
  let confirmed = false;
  let hasNews = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    hasNews = true;
    wake?.();
  };
  const fail = (error: Error): void => {
    failure ??= error;
    ring();
  };
  const end = (): void => {
    // Not awaited: a call that has not begun can be cancelled only once it begins.
    subscription.unsubscribe().catch(() => undefined);
    subscription.destroy();
  };
  /** Everything that has come was taken. */
  const isEmpty = (): boolean => waiting.length === 0 && (full || subscription.readableLength === 0);
  subscription.on('data', (event: AllStreamResolvedEvent) => {
    if (full) return;
    waiting.push(event);
    full = waiting.length >= room;
    if (full) end();
    ring();
  });
  subscription.on('confirmation', () => {
    confirmed = true;
    ring();
  });
  subscription.on('caughtUp', () => {
    caughtUp = true;
    ring();
  });
  // Never removed: an error without a listener would end the process.
  subscription.on('error', (error) => fail(unavailable('the event log ended a subscription', error)));
  subscription.on('end', () => fail(new StreamLost('the event log ended a subscription')));
  subscription.on('close', () => fail(new StreamLost('the event log closed a subscription')));

  return {
    /** At most `max`, in order; empty when nothing waits. Throws the fault that ended the subscription once every event before it was taken. */
    take: (max: number): readonly AllStreamResolvedEvent[] => {
      hasNews = false;
      const taken = waiting.splice(0, max);
      if (taken.length === 0 && isEmpty() && failure !== undefined && !full) throw failure;
      return taken;
    },
    isEmpty,
    /** The server has sent all there was, and all of it was taken. */
    isCaughtUp: (): boolean => caughtUp && isEmpty(),
    /** The server has confirmed the subscription. */
    isConfirmed: (): boolean => confirmed,
    /** The limit was reached, so the subscription was ended here; the events in the inbox can still be taken. */
    isFull: (): boolean => full,
    /** Resolves when there is something to look at, after `ms`, or on abort. */
    wait: (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        if (hasNews || signal.aborted) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          wake = undefined;
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        wake = done;
        signal.addEventListener('abort', done, { once: true });
      }),
    close: end,
  };
};
