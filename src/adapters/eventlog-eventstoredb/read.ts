import {
  BACKWARDS,
  END,
  FORWARDS,
  type ResolvedEvent,
  type RecordedEvent as ServerEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import type { StreamName } from '../../domain/common/ids.js';
import { createBackoff } from '../../lib/backoff.js';
import { pause } from '../../lib/pause.js';
import { type Silence, watchSilence } from '../../lib/silence.js';
import type { LastEvent, ReadOptions, RecordedEvent } from '../../ports/event-log.js';
import { type Connection, callOptions } from './client.js';
import { fromServerEvent } from './events.js';
import { isAway, isMisdirected, isStreamNotFound, ServerSilent, StreamLost, unavailable } from './faults.js';

export type Reader = Pick<Connection, 'client' | 'credentials'> & {
  /** Longest wait for the next event of an answer; the client itself would wait without limit. */
  timeoutMs: number;
  /** Absent where a reader retries by itself, or answers a request. */
  patience?: Patience | undefined;
};

/**
 * How long one read waits from its first fault for a server that went away, as in a restart or the failover of a cluster. A server that has not
 * answered before is reported at once.
 */
type Patience = { ms: number; closing: AbortSignal; hasAnswered: boolean };

/** Reads a stream. An absent stream is empty, and so is a stream whose events were all cut. Throws `EventLogUnavailable`. */
export const readStream = async (
  reader: Reader,
  stream: StreamName,
  { from = 0, direction = 'forwards', limit = Number.MAX_SAFE_INTEGER }: ReadOptions,
): Promise<readonly RecordedEvent[]> => {
  // EventStoreDB 23.10 never ends a read of nothing.
  if (limit <= 0) return [];
  const place =
    direction === 'forwards'
      ? ({ direction: FORWARDS, fromRevision: BigInt(from) } as const)
      : ({ direction: BACKWARDS, fromRevision: END } as const);
  const found = await answered(reader, () =>
    reader.client.readStream(stream, { ...callOptions(reader), ...place, maxCount: limit }),
  );
  return found.flatMap(({ event }) => (event === undefined ? [] : [fromServerEvent(event)]));
};

export const readLastEvent = async (reader: Reader, stream: StreamName): Promise<LastEvent | null> => {
  const [last] = await readStream(reader, stream, { direction: 'backwards', limit: 1 });
  return last === undefined ? null : { revision: last.revision, hash: last.metadata.hash ?? '' };
};

/** The last event as the server stores it, also of a stream that is not ours. Undefined for an absent stream. Throws `EventLogUnavailable`. */
export const readLastAsStored = async (reader: Reader, stream: string): Promise<ServerEvent | undefined> => {
  const options = { ...callOptions(reader), direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
  const [found] = await answered(reader, () => reader.client.readStream(stream, options));
  return found?.event;
};

/** Tries at a read, with growing pauses between them. */
const TRIES = 5;
const RETRY_MS = { first: 20, longest: 400 };

/**
 * Returns everything that a read gives; nothing for an absent stream. Retries as `mayTryAgain` says: after a call to the wrong node or, for readers
 * of the whole log, a lost connection. With patience, retries until the server is there again. Throws `EventLogUnavailable`.
 */
export const answered = async <E extends ResolvedEvent>(
  { timeoutMs, patience }: Pick<Reader, 'timeoutMs' | 'patience'>,
  begin: () => StreamingRead<E>,
  mayTryAgain: (error: unknown) => boolean = isMisdirected,
): Promise<readonly E[]> => {
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  const absence = createAbsence(patience);
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        const found = await drained(begin(), timeoutMs);
        if (patience !== undefined) patience.hasAnswered = true;
        return found;
      } catch (error) {
        const isAbsent = isStreamNotFound(error);
        if (isAbsent && patience !== undefined) patience.hasAnswered = true;
        if (isAbsent) return [];
        const isOneOfFew = mayTryAgain(error) && tries < TRIES;
        const isWaitedFor = isAway(error) && absence.isShort();
        if (patience?.closing.aborted === true || !(isOneOfFew || isWaitedFor)) {
          throw unavailable('the event log cannot be read', error);
        }
        await pause(waits.next(), patience?.closing);
      }
    }
  } finally {
    absence.end();
  }
};

/** Counts only time in which this process ran: the pause of a stopped process says nothing about the server. */
const createAbsence = (patience: Patience | undefined): { isShort(): boolean; end(): void } => {
  let counting: Silence | undefined;
  let isOver = false;
  return {
    /** Whether the patience lasts; begins with the first call. */
    isShort: () => {
      if (patience?.hasAnswered !== true) return false;
      counting ??= watchSilence(patience.ms, () => {
        isOver = true;
      });
      return !isOver;
    },
    end: () => counting?.end(),
  };
};

const drained = <E>(stream: StreamingRead<E>, timeoutMs: number): Promise<E[]> =>
  new Promise((resolve, reject) => {
    const events: E[] = [];
    const silence = watchSilence(timeoutMs, () => {
      reject(new ServerSilent('the event log did not answer a read in time'));
      // Not awaited: a call that has not begun can be cancelled only once it begins.
      stream.cancel().catch(() => undefined);
      stream.destroy();
    });
    const fail = (error: Error): void => {
      silence.end();
      reject(error);
    };
    stream.on('data', (event: E) => {
      events.push(event);
      silence.heard();
    });
    stream.on('error', fail);
    stream.on('end', () => {
      silence.end();
      resolve(events);
    });
    stream.on('close', () => fail(new StreamLost('the event log ended a read')));
  });
