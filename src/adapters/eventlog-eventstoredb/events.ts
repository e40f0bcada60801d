import { type EventData, jsonEvent, type RecordedEvent as ServerEvent } from '@eventstore/db-client';
import type { StreamName } from '../../domain/common/ids.js';
import { NotCanonical } from '../../domain/log/hash-text.js';
import { fromRecord, toRecord } from '../../domain/log/record.js';
import {
  type EventToAppend,
  EventTooLarge,
  type JsonObject,
  type LogPosition,
  MAX_EVENT_BYTES,
  type RecordedEvent,
  type Revision,
} from '../../ports/event-log.js';

/**
 * Events as the server stores them: `data` in exactly the spelling that the hash covers, the metadata unchanged, and `$correlationId` and
 * `$causationId` for the server's own tools. Throws `EventTooLarge` and `NotCanonical`; both mean that nothing was stored.
 */
export const toServerEvents = (
  stream: StreamName,
  first: Revision,
  events: readonly EventToAppend[],
): readonly EventData[] => {
  if (events.length === 0) throw new RangeError('an append holds at least one event');
  // The server would store an event in such a stream, but treat it as a system event.
  if (stream.startsWith('$')) throw new NotCanonical('a stream whose name begins with $ belongs to the server');
  return events.map((event, index) => {
    const stored = toRecord(stream, first + index, event);
    const size = Buffer.byteLength(stored.record);
    if (size > MAX_EVENT_BYTES) throw new EventTooLarge(`an event of ${size} bytes is over ${MAX_EVENT_BYTES}`);
    // The server stores an id as 128 bits, so another spelling would be lost and the hash would not match.
    if (event.id !== event.id.toLowerCase()) throw new NotCanonical('an event id must be lower-case');
    const { data } = fromRecord(stored);
    return jsonEvent({ id: event.id, type: event.type, data, metadata: withLinks(event.metadata) });
  });
};

const withLinks = (metadata: EventToAppend['metadata']): Record<string, string> => {
  const { correlationId, causationId } = metadata;
  return {
    ...metadata,
    ...(correlationId === undefined ? {} : { $correlationId: correlationId }),
    ...(causationId === undefined ? {} : { $causationId: causationId }),
  };
};

/** The inverse of `toServerEvents`; an event that is not ours comes back without content, so that its hash does not match. */
export const fromServerEvent = (event: ServerEvent): RecordedEvent => ({
  stream: event.streamId,
  revision: Number(event.revision),
  position: positionOf(event),
  id: event.id,
  type: event.type,
  data: isObject(event.data) ? (event.data as JsonObject) : {},
  metadata: flatStrings(event.metadata),
});

/** Commit and prepare differ only within explicit transactions, which clients of this version cannot make. */
export const positionOf = ({ position }: Pick<ServerEvent, 'position'>): LogPosition => {
  if (position === undefined || position.commit !== position.prepare) {
    throw new Error('an event of the log has no single position');
  }
  return position.commit as LogPosition;
};

export const toServerPosition = (position: LogPosition) => ({
  commit: position as bigint,
  prepare: position as bigint,
});

const flatStrings = (metadata: unknown): Record<string, string> => {
  if (!isObject(metadata)) return {};
  const pairs = Object.entries(metadata).filter(
    (pair): pair is [string, string] => !pair[0].startsWith('$') && typeof pair[1] === 'string',
  );
  return Object.fromEntries(pairs);
};

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
