import { randomUUID } from 'node:crypto';
import {
  type AppendExpectedRevision,
  type EventData,
  jsonEvent,
  NO_STREAM,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { StreamName } from '../../domain/common/ids.js';
import { within } from '../../lib/pause.js';
import { EventLogUnavailable, type Revision } from '../../ports/event-log.js';
import { callOptions } from './client.js';
import { unavailable } from './faults.js';
import { type Reader, readLastAsStored, readLastEvent } from './read.js';

/** Writes an event of this adapter's own once. False when another writer was first. Throws `EventLogUnavailable`. */
const appendOne = async (
  reader: Reader,
  stream: string,
  event: EventData,
  expectedRevision: AppendExpectedRevision,
): Promise<boolean> => {
  const { client, timeoutMs } = reader;
  const options = { ...callOptions(reader), expectedRevision };
  const appending = client.appendToStream(stream, [event], { ...options, deadline: timeoutMs });
  try {
    const late = (): Error => new EventLogUnavailable('the event log did not answer an append in time');
    return (await within(timeoutMs, appending, late)).success;
  } catch (error) {
    if (error instanceof WrongExpectedVersionError) return false;
    throw unavailable('the event log did not take an event of its adapter', error);
  }
};

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
  const { identity } = entriesOf(data);
  if (typeof identity === 'string') return identity;
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

/** Another writer may change the metadata first; more conflicts in a row than this are a fault. */
const TRIES = 5;

/**
 * Cuts by `$tb` in the stream's metadata and keeps the other entries; the next scavenge frees the disk. The last event, which carries the stream's
 * revision, is never cut, and an earlier cut never moves back. Throws `EventLogUnavailable`.
 */
export const cutBefore = async (reader: Reader, stream: StreamName, before: Revision): Promise<void> => {
  const last = await readLastEvent(reader, stream);
  if (last === null) return;
  const target = Math.min(before, last.revision);
  for (let tries = 1; tries <= TRIES; tries += 1) {
    // The event itself is read, because the client's own reader returns a position as the revision and drops unknown entries.
    const found = await readLastAsStored(reader, `$$${stream}`);
    const metadata = entriesOf(found?.data);
    if (target <= 0 || (typeof metadata.$tb === 'number' && metadata.$tb >= target)) return;
    const event = jsonEvent({ type: '$metadata', data: { ...metadata, $tb: target } });
    if (await appendOne(reader, `$$${stream}`, event, found?.revision ?? NO_STREAM)) return;
  }
  throw new EventLogUnavailable('the metadata of a stream is being changed all the time');
};

const entriesOf = (data: unknown): { readonly [key: string]: unknown } =>
  typeof data === 'object' && data !== null ? (data as { readonly [key: string]: unknown }) : {};
