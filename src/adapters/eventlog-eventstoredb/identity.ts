import { randomUUID } from 'node:crypto';
import { jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { EventLogUnavailable } from '../../ports/event-log.js';
import { appendOne } from './append.js';
import { type Reader, readLastAsStored } from './read.js';

/** Holds one event permanently. It matches no prefix that a projection follows, and the head of the log skips it. */
export const identityStream = 'log-identity';

/**
 * Returns the id of this log: a random id that the first caller writes with "none yet". The id belongs to the data: it survives restarts and
 * restores, and a wiped or replaced database has another. Throws `EventLogUnavailable`.
 */
export const logIdentity = async (reader: Reader): Promise<string> =>
  (await storedIdentity(reader)) ?? (await newIdentity(reader));

/** Undefined for a log that no caller of `logIdentity` has asked. Throws `EventLogUnavailable`. */
export const storedIdentity = async (reader: Reader): Promise<string | undefined> => {
  const data: unknown = (await readLastAsStored(reader, identityStream))?.data;
  if (data === undefined) return undefined;
  if (typeof data === 'object' && data !== null && 'identity' in data && typeof data.identity === 'string') {
    return data.identity;
  }
  throw new EventLogUnavailable(`the stream ${identityStream} of the event log holds something else`);
};

const newIdentity = async (reader: Reader): Promise<string> => {
  const event = jsonEvent({ type: 'LogIdentityGiven', data: { identity: randomUUID() } });
  await appendOne(reader, identityStream, event, NO_STREAM);
  // Several processes may have tried to write; the stored event is the answer for all of them.
  const stored = await storedIdentity(reader);
  if (stored === undefined) throw new EventLogUnavailable('the event log does not keep its identity');
  return stored;
};
