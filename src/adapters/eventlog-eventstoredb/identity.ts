import { randomUUID } from 'node:crypto';
import { BACKWARDS, END, jsonEvent, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client';
import { within } from '../../lib/pause.js';
import { EventLogUnavailable } from '../../ports/event-log.js';
import { callOptions } from './client.js';
import { unavailable } from './faults.js';
import { answered, type Reader } from './read.js';

/** Holds one event permanently. It matches no prefix that a projection follows, and the head of the log skips it. */
export const identityStream = 'log-identity';

/**
 * Returns the id of this log: a random id that the first caller writes with "none yet". The id belongs to the data: it survives restarts and
 * restores, and a wiped or replaced database has another. Throws `EventLogUnavailable`.
 */
export const logIdentity = async (reader: Reader): Promise<string> =>
  (await storedIdentity(reader)) ?? (await newIdentity(reader));

const storedIdentity = async (reader: Reader): Promise<string | undefined> => {
  const options = { ...callOptions(reader), direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
  const [found] = await answered(reader, () => reader.client.readStream(identityStream, options));
  const data: unknown = found?.event?.data;
  if (data === undefined) return undefined;
  if (typeof data === 'object' && data !== null && 'identity' in data && typeof data.identity === 'string') {
    return data.identity;
  }
  throw new EventLogUnavailable(`the stream ${identityStream} of the event log holds something else`);
};

const newIdentity = async (reader: Reader): Promise<string> => {
  const event = jsonEvent({ type: 'LogIdentityGiven', data: { identity: randomUUID() } });
  const { client, timeoutMs: deadline } = reader;
  const writing = client.appendToStream(identityStream, [event], {
    ...callOptions(reader),
    expectedRevision: NO_STREAM,
    deadline,
  });
  await within(deadline, writing, () => new EventLogUnavailable('the event log did not answer in time')).catch(
    (error: unknown) => {
      if (!(error instanceof WrongExpectedVersionError)) throw unavailable('the event log has no identity yet', error);
    },
  );
  // Several processes may have tried to write; the stored event is the answer for all of them.
  const stored = await storedIdentity(reader);
  if (stored === undefined) throw new EventLogUnavailable('the event log does not keep its identity');
  return stored;
};
