import type { StreamName } from '../../domain/common/ids.js';
import { type EventLog, EventLogUnavailable, EventLogUnreachable, type Revision } from '../../ports/event-log.js';
import { type AppendDeps, appendTo } from './append.js';
import { openConnection } from './client.js';
import { EventLogStreamDeleted, isAway } from './faults.js';
import { readHidden } from './hidden.js';
import { findObstacle } from './obstacle.js';
import { cutBefore, logIdentity, storedIdentity } from './own-events.js';
import { createHeadFinder, isPlace, readAfter, readLastEvents, type Stretch } from './pages.js';
import { type Reader, readLastEvent, readStream } from './read.js';
import { createMemory } from './remembered.js';
import { createStreamStartFilter } from './stream-starts.js';
import { supervised } from './subscription.js';

export type EventStoreEventLogOptions = {
  /** `esdb://user:password@host:2113?tls=true`, of several nodes with commas, or `esdb+discover://`. */
  url: string;
  /** Longest time from the call of `append` to an answer; default 5 s. */
  appendDeadlineMs?: number;
  /** Longest wait for the next event of an answer; default 10 s. */
  readTimeoutMs?: number;
  /** Longest wait of a read for a server that has answered before and went away; default 0: the caller retries, or answers a request. */
  readPatienceMs?: number;
  /** A subscription that is silent for this long is compared with the log; default 5 s. */
  subscriptionCheckMs?: number;
};

export type EventStoreEventLog = EventLog & {
  /** Refuses new calls, ends subscriptions, and resolves when the appends under way have their answer. */
  close(): Promise<void>;
};

/** Only before the first connection, as at a start: a request is not held up by a search. */
const unreachable = async (url: string, error: EventLogUnavailable): Promise<EventLogUnavailable> => {
  if (!isAway(error)) return error;
  const { obstacle, code } = await findObstacle(url);
  return new EventLogUnreachable(obstacle, code, error);
};

/**
 * The log in EventStoreDB 23.10 or later (ADR 13); connects when first used. Positions are commit positions, so an append cannot know its own. Cut
 * events leave their stream at once, and the whole log when the server is scavenged. Throws `AddressInvalid`.
 */
export const createEventStoreEventLog = (options: EventStoreEventLogOptions): EventStoreEventLog => {
  const { url, appendDeadlineMs = 5_000, readTimeoutMs = 10_000, subscriptionCheckMs = 5_000 } = options;
  const { readPatienceMs: patienceMs = 0 } = options;
  const connection = openConnection(url);
  const { client, credentials } = connection;
  const closing = new AbortController();
  const patience = patienceMs === 0 ? undefined : { ms: patienceMs, closing: closing.signal, hasAnswered: false };
  /** For subscriptions, which try again by themselves. */
  const impatient: Reader = { client, credentials, timeoutMs: readTimeoutMs };
  const reader: Reader = { ...impatient, patience };
  const memory = createMemory(reader, connection.losses);
  const appending = new Set<Promise<unknown>>();

  const refuseWhenClosed = (): void => {
    if (closing.signal.aborted) throw new EventLogUnavailable('the event log is closed');
  };
  const whileOpen = async <T>(action: () => Promise<T>): Promise<T> => {
    refuseWhenClosed();
    try {
      return await action();
    } catch (error) {
      if (connection.wasReady() || !(error instanceof EventLogUnavailable)) throw error;
      throw await unreachable(url, error);
    }
  };
  /** Null for a stream without events, and for one that a person deleted for good: the other streams are read on. */
  const firstRevision = async (stream: StreamName): Promise<Revision | null> => {
    try {
      return (await readStream(reader, stream, { limit: 1 }))[0]?.revision ?? null;
    } catch (error) {
      if (error instanceof EventLogStreamDeleted) return null;
      throw error;
    }
  };
  const appends: AppendDeps = {
    client,
    credentials,
    deadlineMs: appendDeadlineMs,
    ensureHeld: memory.ensureHeld,
    read: (stream, from, limit) => readStream(reader, stream, { from, limit }),
  };
  const streamStarts = createStreamStartFilter(firstRevision);
  const readAll: EventLog['readAll'] = async ({ prefixes, after, limit }) => {
    let cursor = after;
    for (;;) {
      const stretch: Stretch = await readAfter(reader, { prefixes, after: cursor, limit }, closing.signal);
      const shown = await streamStarts(stretch.events);
      refuseWhenClosed();
      if (shown.length > 0 || stretch.events.length === 0) return shown;
      cursor = stretch.cursor;
    }
  };
  const head = createHeadFinder(reader, memory.sawHead);

  return {
    append: (stream, expected, events) =>
      whileOpen(() => {
        const answer = appendTo(appends, stream, expected, events).finally(() => appending.delete(answer));
        appending.add(answer);
        return answer.then((result) => {
          const last = events.at(-1);
          if (result.ok && last !== undefined) memory.appended({ stream, revision: result.revision, id: last.id });
          return result;
        });
      }),
    read: (stream, readOptions = {}) =>
      whileOpen(() => memory.whileHeld(() => readStream(reader, stream, readOptions))),
    lastEvent: (stream) => whileOpen(() => memory.whileHeld(() => readLastEvent(reader, stream))),
    readAll: (wanted) => whileOpen(() => readAll(wanted)),
    readLast: ({ prefixes, limit }) =>
      whileOpen(async () => {
        const last = await readLastEvents(reader, prefixes, limit);
        return await createStreamStartFilter(firstRevision, limit)(last);
      }),
    subscribe: (wanted) => {
      const ownStarts = createStreamStartFilter(firstRevision);
      return supervised(
        {
          reader: impatient,
          streamStarts: ownStarts,
          checkMs: subscriptionCheckMs,
          closing: closing.signal,
          ensureHeld: memory.ensureHeld,
        },
        wanted,
      );
    },
    readHidden: (prefixes) => whileOpen(() => readHidden(reader, prefixes, firstRevision, closing.signal)),
    head: () => whileOpen(head),
    hasPlace: (position) => whileOpen(() => isPlace(reader, position)),
    remembered: { look: () => whileOpen(memory.look), forget: memory.forget },
    identity: () => whileOpen(() => logIdentity(reader)),
    storedIdentity: () => whileOpen(() => storedIdentity(reader)),
    cut: (stream, before) => whileOpen(() => cutBefore(reader, stream, before)),
    close: async () => {
      closing.abort();
      await Promise.allSettled(appending);
      await connection.close();
    },
  };
};
