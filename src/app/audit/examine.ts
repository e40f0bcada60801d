import { hashTextIfAny } from '../../domain/log/hash-text.js';
import type { JsonObject, RecordedEvent } from '../../ports/event-log.js';
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
