import { type StoredRecord, toRecord } from '../../domain/log/record.js';
import type { StreamName } from '../../domain/shared/ids.js';
import {
  type EventToAppend,
  EventTooLarge,
  type Expected,
  MAX_EVENT_BYTES,
  type Revision,
} from '../../ports/event-log.js';

/** An append whose events are already text: nothing about it can fail but the server. */
export type PreparedAppend = {
  stream: StreamName;
  /** -1 for none. */
  expected: Revision;
  events: readonly (StoredRecord & { id: string; type: string })[];
  /** UTF-8 bytes of all records. */
  bytes: number;
};

/** Throws `EventTooLarge` and `NotCanonical`; both mean that nothing was stored. */
export const prepareAppend = (
  stream: StreamName,
  expected: Expected,
  events: readonly EventToAppend[],
): PreparedAppend => {
  if (events.length === 0) throw new RangeError('an append holds at least one event');
  const last = expected.kind === 'none' ? -1 : expected.revision;
  let bytes = 0;
  const prepared = events.map((event, index) => {
    const stored = toRecord(stream, last + 1 + index, event);
    const size = Buffer.byteLength(stored.record);
    if (size > MAX_EVENT_BYTES) throw new EventTooLarge(`an event of ${size} bytes is over ${MAX_EVENT_BYTES}`);
    bytes += size;
    return { ...stored, id: event.id, type: event.type };
  });
  return { stream, expected: last, events: prepared, bytes };
};
