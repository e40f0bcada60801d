import { randomUUID } from 'node:crypto';
import { BACKWARDS, END, jsonEvent, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client';
import { EventLogUnavailable } from '../../ports/event-log.js';
import { within } from '../../waiting/pause.js';
import { callOptions } from './client.js';
import { unavailable } from './faults.js';
import { answered, type Reader } from './read.js';

/** Holds one event for ever. It matches no prefix that a projection follows, and the head of the log looks past it. */
export const identityStream = 'log-identity';

/**
 * Which log this is: a random id that the first to ask writes with "none yet". It goes with the data: it survives restarts
 * and a restore, and a wiped or replaced database has another. Throws `EventLogUnavailable`.
 */
export const logIdentity = async (reader: Reader): Promise<string> =>
  (await standingIdentity(reader)) ?? (await newIdentity(reader));

const standingIdentity = async (reader: Reader): Promise<string | undefined> => {
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
  // Whoever was first, what stands there now is the answer of everybody.
  const standing = await standingIdentity(reader);
  if (standing === undefined) throw new EventLogUnavailable('the event log does not keep its identity');
  return standing;
};
