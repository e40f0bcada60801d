import { BACKWARDS, END, jsonEvent, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client';
import type { StreamName } from '../../domain/shared/ids.js';
import { EventLogUnavailable, type Revision } from '../../ports/event-log.js';
import { within } from '../../waiting/pause.js';
import { callOptions } from './client.js';
import { unavailable } from './faults.js';
import { answered, type Reader, readLastRevision } from './read.js';

type Metadata = { readonly [key: string]: unknown };

/** Another writer of the metadata may be faster; so often, and it is no coincidence any more. */
const TRIES = 5;

/**
 * Cuts by `$tb` in the stream's metadata, whose other entries stay; the disk is freed by the next scavenge. Never beyond the
 * last event, which carries the stream's revision; a stream that is cut already stays as it is. Throws `EventLogUnavailable`.
 */
export const cutBefore = async (reader: Reader, stream: StreamName, before: Revision): Promise<void> => {
  const last = await readLastRevision(reader, stream);
  if (last === null) return;
  const target = Math.min(before, last);
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const { metadata, revision } = await standingMetadata(reader, stream);
    const standing = metadata.$tb;
    if (target <= 0 || (typeof standing === 'number' && standing >= target)) return;
    if (await writeMetadata(reader, stream, { ...metadata, $tb: target }, revision)) return;
  }
  throw new EventLogUnavailable('the metadata of a stream is being changed all the time');
};

/** Read as it stands: the client's own reader gives a position for the revision and drops what it does not know. */
const standingMetadata = async (
  reader: Reader,
  stream: StreamName,
): Promise<{ metadata: Metadata; revision: bigint | undefined }> => {
  const options = { ...callOptions(reader), direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
  const [found] = await answered(reader, () => reader.client.readStream(metadataStream(stream), options));
  const data: unknown = found?.event?.data;
  const metadata = typeof data === 'object' && data !== null ? (data as Metadata) : {};
  return { metadata, revision: found?.event?.revision };
};

/** False when somebody else changed them meanwhile. */
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
