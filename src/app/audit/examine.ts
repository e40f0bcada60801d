import { hashTextIfAny } from '../../domain/log/hash-text.js';
import { contentOf, hashTextOfRecord, parseRecord } from '../../domain/log/record.js';
import type { JsonObject, RecordedEvent, StoredEvent } from '../../ports/event-log.js';
import { sealedFieldsOf } from '../event-store/codec.js';
import { eventTypeDefinitions } from '../event-store/event-types.js';
import { sha256Hex } from '../event-store/hashes.js';
import { sealedWith } from '../event-store/sealing.js';
import { checkShape, sealingFault } from './event-shape.js';

/**
 * What one event shows by itself, without the other events of the log. Its personal fields are left out, because no later check needs them and they
 * are most of an event.
 */
export type ExaminedEvent = Omit<RecordedEvent, 'metadata'> & {
  /** Of the metadata only what later checks need. */
  metadata: KeptMetadata;
  /** Whether its stored hash is the hash of its content. If not, shape and sealing are not examined. */
  isHashed: boolean;
  shapeFault: string | undefined;
  sealingFault: string | undefined;
  /** Generation of the key that sealed its personal fields. */
  sealedUnder: string | undefined;
};

type KeptMetadata = { readonly [Key in 'hash' | 'prevHash' | 'commandId' | 'mode' | 'companyId']?: string | undefined };

/**
 * `contentHash`: the SHA-256 of the hash text, where the caller knows it already. The data of an event in its right shape is of the newest version.
 * Throws `TooDeep`.
 */
export const examineEvent = (recorded: RecordedEvent, contentHash = hashOf(recorded)): ExaminedEvent => {
  const { position, stream, revision, id, type, metadata } = recorded;
  const { hash, prevHash, commandId, mode, companyId } = metadata;
  const personal = eventTypeDefinitions.get(type)?.personal ?? [];
  const isHashed = contentHash === hash;
  const shape = isHashed ? checkShape(recorded) : undefined;
  const event = shape !== undefined && 'event' in shape ? shape.event : undefined;
  return {
    position,
    stream,
    revision,
    id,
    type,
    isHashed,
    metadata: { hash, prevHash, commandId, mode, companyId },
    data: without(personal, (event?.data as JsonObject | undefined) ?? recorded.data),
    shapeFault: shape !== undefined && 'fault' in shape ? shape.fault : undefined,
    sealingFault: event && sealingFault(recorded),
    sealedUnder: sealedUnder(recorded),
  };
};

const without = (fields: readonly string[], data: JsonObject): JsonObject => {
  if (fields.length === 0) return data;
  const rest: Record<string, JsonObject[string]> = {};
  for (const name of Object.keys(data)) if (!fields.includes(name)) rest[name] = data[name] ?? '';
  return rest;
};

/** The fields of an event are sealed together, under one key. */
const sealedUnder = (recorded: RecordedEvent): string | undefined => {
  const [first] = sealedFieldsOf(recorded);
  return first && sealedWith(first.text)?.generation;
};

/** The SHA-256 of the event's hash text; undefined for an event without one, which no engine would have stored. Throws `TooDeep`. */
export const hashOf = (event: RecordedEvent): string | undefined => {
  const text = hashTextIfAny(event.stream, event.revision, event);
  return text === undefined ? undefined : sha256Hex(text);
};

/** `event`: what a reader gets; undefined when readers cannot read it. `fault`: what is wrong with its stored form. */
export type Examination = { event: ExaminedEvent | undefined; fault: string | undefined };

/**
 * Examines one row of the log's table. Readers find an event by the columns and take its content from the record, so an edit of either can hide or
 * move an event without touching its hash. This compares the two.
 */
export const examineStored = (stored: StoredEvent): Examination => {
  const read = readable(stored);
  if (read === undefined) return { event: undefined, fault: 'the record cannot be read' };
  const { event, text } = read;
  const contentHash = text === undefined ? undefined : sha256Hex(text);
  // Any other edit of the text changes the event, which its hash shows.
  const respelled = text !== stored.record && contentHash === stored.hash ? RESPELLED : undefined;
  return { event: examineEvent(event, contentHash), fault: misfiled(stored, event) ?? respelled };
};

const readable = ({
  record,
  hash,
  position,
}: StoredEvent): { event: RecordedEvent; text: string | undefined } | undefined => {
  try {
    const parsed = parseRecord(record);
    const content = contentOf(parsed, hash);
    const { stream, revision, id, type, data, metadata } = content;
    const event = { position, stream, revision, id, type, data, metadata };
    return isWhole(event) ? { event, text: hashTextOfRecord(record, parsed, content) } : undefined;
  } catch {
    return undefined;
  }
};

/** An edited record may be JSON that lacks what every event has. */
const isWhole = ({ stream, revision, id, type, data }: RecordedEvent): boolean =>
  typeof stream === 'string' &&
  Number.isSafeInteger(revision) &&
  typeof id === 'string' &&
  typeof type === 'string' &&
  typeof data === 'object' &&
  data !== null;

const COLUMNS = ['stream', 'revision', 'id', 'type'] as const;

const misfiled = (stored: StoredEvent, event: RecordedEvent): string | undefined => {
  const others = COLUMNS.filter((column) => stored[column] !== event[column]);
  return others.length === 0
    ? undefined
    : `the row's ${others.join(' and ')} ${others.length === 1 ? 'is' : 'are'} not the event's, which readers miss or misplace`;
};

const RESPELLED = 'the record is spelled in another way';
