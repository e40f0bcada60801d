import { BACKWARDS, END, jsonEvent, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client';
import type { StreamName } from '../../domain/shared/ids.js';
import { within } from '../../lib/pause.js';
import { type EventLog, EventLogUnavailable, type Revision } from '../../ports/event-log.js';
import { type AppendDeps, appendTo } from './append.js';
import { callOptions, openConnection } from './client.js';
import { faultCode, unavailable } from './faults.js';
import { logIdentity } from './identity.js';
import { createHeadFinder, readAfter, readLastEvents, type Stretch } from './pages.js';
import { answered, type Reader, readLastRevision, readStream } from './read.js';
import { createStreamStartFilter } from './stream-starts.js';
import { supervised } from './subscription.js';

export type EventStoreEventLogOptions = {
  /** `esdb://user:password@host:2113?tls=true`, of several nodes with commas, or `esdb+discover://`. */
  url: string;
  /** Longest time from the call of `append` to an answer; default 5 s. */
  appendDeadlineMs?: number;
  /** Longest wait for the next event of an answer; default 10 s. */
  readTimeoutMs?: number;
  /** A subscription that is silent for this long is compared with the log; default 5 s. */
  subscriptionCheckMs?: number;
};

/** `code` is a kind of fault, never a server's text. */
type EventLogStatus = { ok: true } | { ok: false; code: string };

export type EventStoreEventLog = EventLog & {
  /** For readiness: whether the log can be read within `readTimeoutMs`. */
  check(): Promise<EventLogStatus>;
  /** Refuses new calls, ends subscriptions, and resolves when the appends under way have their answer. */
  close(): Promise<void>;
};

/**
 * The log in EventStoreDB 23.10 or later (ADR 13); connects when first used. Positions are commit positions, so an append cannot know its own. Cut
 * events leave their stream at once, and the whole log when the server is scavenged. Throws `EventStoreUrlInvalid`.
 */
export const createEventStoreEventLog = (options: EventStoreEventLogOptions): EventStoreEventLog => {
  const { url, appendDeadlineMs = 5_000, readTimeoutMs = 10_000, subscriptionCheckMs = 5_000 } = options;
  const connection = openConnection(url);
  const { client, credentials } = connection;
  const reader: Reader = { client, credentials, timeoutMs: readTimeoutMs };
  const closing = new AbortController();
  const appending = new Set<Promise<unknown>>();

  const refuseWhenClosed = (): void => {
    if (closing.signal.aborted) throw new EventLogUnavailable('the event log is closed');
  };
  const open = async <T>(action: () => Promise<T>): Promise<T> => {
    refuseWhenClosed();
    return await action();
  };
  const firstRevision = async (stream: StreamName): Promise<Revision | null> =>
    (await readStream(reader, stream, { limit: 1 }))[0]?.revision ?? null;
  const appends: AppendDeps = {
    client,
    credentials,
    deadlineMs: appendDeadlineMs,
    read: (stream, from, limit) => readStream(reader, stream, { from, limit }),
  };
  const pages = createStreamStartFilter(firstRevision);
  const readAll: EventLog['readAll'] = async ({ prefixes, after, limit }) => {
    let cursor = after;
    for (;;) {
      const stretch: Stretch = await readAfter(reader, { prefixes, after: cursor, limit }, closing.signal);
      const shown = await pages(stretch.events);
      refuseWhenClosed();
      if (shown.length > 0 || stretch.events.length === 0) return shown;
      cursor = stretch.cursor;
    }
  };
  const head = createHeadFinder(reader);

  return {
    append: (stream, expected, events) =>
      open(async () => {
        const answer = appendTo(appends, stream, expected, events);
        appending.add(answer);
        try {
          return await answer;
        } finally {
          appending.delete(answer);
        }
      }),
    read: (stream, readOptions = {}) => open(() => readStream(reader, stream, readOptions)),
    lastRevision: (stream) => open(() => readLastRevision(reader, stream)),
    readAll: (wanted) => open(() => readAll(wanted)),
    readLast: ({ prefixes, limit }) =>
      open(
        async () => await createStreamStartFilter(firstRevision, limit)(await readLastEvents(reader, prefixes, limit)),
      ),
    subscribe: (wanted) =>
      supervised(
        {
          reader,
          streamStarts: createStreamStartFilter(firstRevision),
          checkMs: subscriptionCheckMs,
          closing: closing.signal,
        },
        wanted,
      ),
    head: () => open(head),
    identity: () => open(() => logIdentity(reader)),
    cut: (stream, before) => open(() => cutBefore(reader, stream, before)),
    check: async () => {
      try {
        await open(head);
        return { ok: true };
      } catch (error) {
        return { ok: false, code: faultCode(error) };
      }
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(appending);
      await connection.close();
    },
  };
};

type Metadata = { readonly [key: string]: unknown };

/** Another writer may change the metadata first; more conflicts in a row than this are a fault. */
const TRIES = 5;

/**
 * Cuts by `$tb` in the stream's metadata and keeps the other entries; the next scavenge frees the disk. The last event, which carries the stream's
 * revision, is never cut, and an earlier cut never moves back. Throws `EventLogUnavailable`.
 */
const cutBefore = async (reader: Reader, stream: StreamName, before: Revision): Promise<void> => {
  const last = await readLastRevision(reader, stream);
  if (last === null) return;
  const target = Math.min(before, last);
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const { metadata, revision } = await storedMetadata(reader, stream);
    const stored = metadata.$tb;
    if (target <= 0 || (typeof stored === 'number' && stored >= target)) return;
    if (await writeMetadata(reader, stream, { ...metadata, $tb: target }, revision)) return;
  }
  throw new EventLogUnavailable('the metadata of a stream is being changed all the time');
};

/** Reads the metadata event itself, because the client's own reader returns a position as the revision and drops unknown entries. */
const storedMetadata = async (
  reader: Reader,
  stream: StreamName,
): Promise<{ metadata: Metadata; revision: bigint | undefined }> => {
  const options = { ...callOptions(reader), direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
  const [found] = await answered(reader, () => reader.client.readStream(metadataStream(stream), options));
  const data: unknown = found?.event?.data;
  const metadata = typeof data === 'object' && data !== null ? (data as Metadata) : {};
  return { metadata, revision: found?.event?.revision };
};

/** Returns false when another writer changed the metadata meanwhile. */
const writeMetadata = async (
  reader: Reader,
  stream: StreamName,
  metadata: { readonly $tb: number },
  revision: bigint | undefined,
): Promise<boolean> => {
  const { client, timeoutMs: deadline } = reader;
  const writing = client.appendToStream(
    metadataStream(stream),
    [jsonEvent({ type: '$metadata', data: { ...metadata } })],
    { ...callOptions(reader), expectedRevision: revision ?? NO_STREAM, deadline },
  );
  try {
    const late = (): Error => new EventLogUnavailable('the event log did not answer a cut in time');
    return (await within(deadline, writing, late)).success;
  } catch (error) {
    if (error instanceof WrongExpectedVersionError) return false;
    throw unavailable('the event log did not take a cut', error);
  }
};

const metadataStream = (stream: StreamName): string => `$$${stream}`;
