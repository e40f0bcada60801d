import { jsonEvent, NO_STREAM } from '@eventstore/db-client';
import type { StreamName } from '../../domain/common/ids.js';
import { EventLogUnavailable, type Revision } from '../../ports/event-log.js';
import { appendOne } from './append.js';
import { type Reader, readLastAsStored, readLastEvent } from './read.js';

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
