import type pg from 'pg';
import type { StreamName } from '../../domain/common/ids.js';
import type { AppendResult, EventLog, GuardedAppend, LastEvent, RecordedEvent } from '../../ports/event-log.js';
import { SUBSCRIPTION_BATCH } from '../../ports/event-log.js';
import { batched } from '../sql/batched.js';
import { openPool, type SessionLimits } from '../sql/pool.js';
import { groupCommit, sendAppends } from './group-commit.js';
import { watchEnd, watchedRead } from './lost-end.js';
import { type PreparedAppend, prepareAppend } from './prepared-append.js';
import {
  lastRecordedIn,
  type Mark,
  readHead,
  readLastEvents,
  readLastOf,
  readStored,
  readStream,
  readStretch,
  START,
} from './reader.js';
import { subscription, wakeSignal } from './subscription.js';
import { sharedTail } from './tail.js';

type PostgresEventLogOptions = {
  /** Of a database that `migrate` has prepared. */
  connectionString: string;
  /** Longest time from the call of `append` to an answer; default 5 s. */
  appendDeadlineMs?: number;
  /** Limits of reads; the limits of an append come from its deadline. */
  limits?: SessionLimits;
  /** For the questions whether the log has lost its end; default the connections of reads. */
  lookPool?: pg.Pool;
  onIdleError?: (error: Error) => void;
};

/** For reads and subscriptions; appends use a separate connection. */
const READ_CONNECTIONS = 4;

/** Reads of last events that are worth running at once: four statements. */
const LAST_READS = 512;

export type PostgresEventLog = EventLog & { appendGuarded: GuardedAppend; close(): Promise<void> };

/**
 * The log in one table (docs/architecture.md#streams-and-events, ADR 1); connects when first used. An event id that the log already holds at another
 * place, in this stream or another, is not a repeated append: the expected revision decides as for any other event.
 */
export const postgresEventLog = (options: PostgresEventLogOptions): PostgresEventLog => {
  const { connectionString, appendDeadlineMs = 5_000, limits, onIdleError } = options;
  const shared = { connectionString, applicationName: 'nfse-event-log', onIdleError, refuseStandby: true };
  // The server gives up before this process does, so that an append reported as unknown no longer waits for the lock there.
  const serverTimeoutMs = Math.ceil(appendDeadlineMs * 0.8);
  const writers = openPool({
    ...shared,
    max: 1,
    statementTimeoutMs: serverTimeoutMs,
    lockTimeoutMs: serverTimeoutMs,
    connectTimeoutMs: serverTimeoutMs,
    answerTimeoutMs: appendDeadlineMs,
  });
  const readers = openPool({ ...shared, ...limits, max: READ_CONNECTIONS });
  const lastEvent = batched<StreamName, LastEvent | null>((streams) => readLastOf(readers, streams));
  const lastRecorded = lastRecordedIn(readers);
  const appendSignal = wakeSignal();
  const end = watchEnd(options.lookPool ?? readers);
  const watched = watchedRead(async (prefixes, after, mark) => {
    const lookAt = end.beginMarkedRead();
    const stretch = await readStretch(readers, prefixes, after, SUBSCRIPTION_BATCH, mark);
    await lookAt(stretch, mark);
    return stretch;
  });
  const tail = sharedTail(watched, appendSignal.count);
  const commits = groupCommit(sendAppends(writers, end), appendDeadlineMs);

  const commit = async (append: PreparedAppend): Promise<AppendResult> => {
    const result = await commits.append(append);
    appendSignal.raise();
    return result;
  };

  return {
    append: async (stream, expected, events) => commit(prepareAppend(stream, expected, events)),
    appendGuarded: async (stream, event, guards) =>
      (await commit({ ...prepareAppend(stream, { kind: 'none' }, [event]), guards })).ok,
    read: async (stream, readOptions = {}) => {
      const remember = end.beginRead();
      const isForLast = readOptions.direction === 'backwards' && readOptions.limit === 1;
      const events = await (isForLast ? lastRecorded(stream) : readStream(readers, stream, readOptions));
      remember(furthestOf(events));
      return events;
    },
    lastReadsAtOnce: LAST_READS,
    lastEvent,
    readAll: async ({ prefixes, after, limit }) => {
      let stretch = await readStretch(readers, prefixes, after ?? START, limit);
      while (stretch.events.length === 0 && !stretch.atEnd) {
        stretch = await readStretch(readers, prefixes, stretch.cursor, limit);
      }
      return stretch.events;
    },
    readStored: ({ after, limit }) => readStored(readers, after ?? START, limit),
    readLast: ({ prefixes, limit }) => readLastEvents(readers, prefixes, limit),
    subscribe: (wanted) => subscription(wanted, tail, appendSignal),
    lostEnd: end,
    head: async () => (await readHead(readers)).position,
    identity: async () => (await readHead(readers)).identity,
    cut: async (stream, before) => {
      // The function never cuts the last event, which carries the stream's revision: without it the stream could begin again.
      await readers.query('select event_log_cut($1, $2)', [stream, before]);
    },
    close: async () => {
      await commits.close();
      await Promise.all([writers.end(), readers.end()]);
    },
  };
};

/** Of one stream, read in either direction. */
const furthestOf = (events: readonly RecordedEvent[]): Mark | undefined => {
  const [one, other] = [events[0], events.at(-1)];
  const last = one !== undefined && other !== undefined && one.position > other.position ? one : other;
  return last?.metadata.hash === undefined ? undefined : { position: last.position, hash: last.metadata.hash };
};
