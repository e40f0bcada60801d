import { hashText } from '../../domain/log/hash-text.js';
import { invoicePrefix, type Mode, type StreamName } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { EventToAppend, Json, JsonObject, LogPosition, RecordedEvent, Revision } from '../../ports/event-log.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { sha256Hex, uuidV8OfHash } from '../hashes.js';
import type { AppendSite } from '../sites.js';
import { type DomainEvent, eventTypeDefinitions } from './event-types.js';
import { isSealed, openField, sealedWith, sealField } from './sealing.js';

/** Who caused an append and why; becomes the event's metadata (design section 4). */
export type CommandContext = {
  /** Random per command; event ids derive from it. */
  commandId: string;
  /** The Request-Id, kept through the whole life of the work that it started. */
  correlationId: string;
  /** The event or request that led here. */
  causationId: string;
  actor: `apiKey:${string}` | `worker:${string}` | `timer:${string}` | `support:${string}`;
  mode?: Mode;
  companyId?: string;
  now: Instant;
  traceparent?: string;
  /** Which line of the product appends; not stored, the crash tests stop a process by it. */
  site: AppendSite;
};

/** `bornAt`: when the stream's first event was recorded, where it is known. */
export type StreamVersion = { kind: 'none' } | { kind: 'at'; revision: Revision; hash: string; bornAt?: Instant };

export type DecodedEvent<E extends DomainEvent = DomainEvent> = E & {
  id: string;
  stream: StreamName;
  revision: Revision;
  position: LogPosition;
  metadata: Readonly<Record<string, string>>;
};

/** Thrown for an event that a newer version of this program wrote, or of a type never heard of: the reader must halt. */
export class UnknownEventVersion extends Error {
  override readonly name = 'UnknownEventVersion';
}

/** Ids derive from the command, so that the same append made twice is recognised by the log. */
export const eventIdOf = (commandId: string, index: number): string => uuidV8OfHash(sha256Hex(`${commandId}/${index}`));

export const eventHash = (stream: StreamName, revision: Revision, event: EventToAppend): string =>
  sha256Hex(hashText(stream, revision, event));

/** Seals the personal fields, completes the metadata and links each event to the one before it. */
export const encodeEvents = async (
  stream: StreamName,
  version: StreamVersion,
  events: readonly DomainEvent[],
  context: CommandContext,
  keys: SealingKeys,
): Promise<readonly EventToAppend[]> => {
  let prevHash = version.kind === 'none' ? '' : version.hash;
  // A test invoice has one key, so that no copy of it opens for longer because something was added to it later (ADR 25).
  const keyOf = version.kind === 'none' ? context.now : (version.bornAt ?? context.now);
  let revision = version.kind === 'none' ? 0 : version.revision + 1;
  const encoded: EventToAppend[] = [];
  for (const [index, event] of events.entries()) {
    const id = eventIdOf(context.commandId, index);
    const data = await sealData(stream, id, event, keyOf, keys);
    const unhashed = { id, type: event.type, data, metadata: metadataOf(event, context, prevHash) };
    const hash = eventHash(stream, revision, unhashed);
    encoded.push({ ...unhashed, metadata: { ...unhashed.metadata, hash } });
    prevHash = hash;
    revision += 1;
  }
  return encoded;
};

/** Opens the personal fields; one whose key was destroyed is left out. With `sealed` they stay as stored. */
export const decodeEvent = async (recorded: RecordedEvent, keys: SealingKeys | 'sealed'): Promise<DecodedEvent> => {
  if (keys === 'sealed') return decodeSealed(recorded);
  const { stream, id } = recorded;
  let data = recorded.data;
  for (const field of definitionOf(recorded).personal) {
    data = await openInto(data, field, { stream, eventId: id, field }, keys);
  }
  return decodeSealed({ ...recorded, data });
};

/** Of the newest schema version, personal fields as they are. Throws `UnknownEventVersion`. */
export const decodeSealed = (recorded: RecordedEvent): DecodedEvent => {
  const { stream, revision, position, id, metadata, type } = recorded;
  let data = recorded.data;
  for (const lift of definitionOf(recorded).upcasts.slice(Number(metadata.schemaVersion) - 1)) data = lift(data);
  return { type, data, id, stream, revision, position, metadata } as unknown as DecodedEvent;
};

/** Opens one personal value wherever it was carried to, a read-model row for instance. */
export const openCarried = async (
  value: unknown,
  stream: StreamName,
  field: string,
  keys: SealingKeys,
): Promise<Json | undefined> => {
  if (!isSealed(value)) return value as Json | undefined;
  const sealed = sealedWith(value);
  const key = sealed === undefined ? undefined : await keys.forOpening(sealed.generation, stream);
  return sealed === undefined || key === undefined
    ? undefined
    : openField(value, { stream, eventId: sealed.eventId, field }, key);
};

const definitionOf = ({ type, metadata }: RecordedEvent) => {
  const definition = eventTypeDefinitions.get(type);
  const version = Number(metadata.schemaVersion);
  if (definition === undefined || !(version <= definition.version)) {
    throw new UnknownEventVersion(
      `event type ${type}, schema version ${metadata.schemaVersion}: newer than this program`,
    );
  }
  return definition;
};

const sealData = async (
  stream: StreamName,
  eventId: string,
  event: DomainEvent,
  keyOf: Instant,
  keys: SealingKeys,
): Promise<JsonObject> => {
  const data: Record<string, Json> = { ...(event.data as unknown as JsonObject) };
  const personal = (eventTypeDefinitions.get(event.type)?.personal ?? []).filter((field) => data[field] !== undefined);
  if (personal.length === 0) return data;
  const key = await keys.forSealing(streamMode(stream), stream, keyOf);
  for (const field of personal) {
    const value = data[field];
    if (value !== undefined) data[field] = sealField(value, { stream, eventId, field }, key);
  }
  return data;
};

/** Only test invoices are erased by a destroyed day key; everything else is kept under the master key. */
const streamMode = (stream: StreamName): Mode => (stream.startsWith(invoicePrefix.test) ? 'test' : 'live');

const openInto = async (
  data: JsonObject,
  field: string,
  place: { stream: StreamName; eventId: string; field: string },
  keys: SealingKeys,
): Promise<JsonObject> => {
  const value = data[field];
  if (!isSealed(value)) return data;
  if (sealedWith(value)?.eventId !== place.eventId) throw new Error('a sealed field is not of this event');
  const opened = await openCarried(value, place.stream, field, keys);
  const { [field]: _sealed, ...rest } = data;
  return opened === undefined ? rest : { ...rest, [field]: opened };
};

const metadataOf = (event: DomainEvent, context: CommandContext, prevHash: string): Record<string, string> => ({
  schemaVersion: String(eventTypeDefinitions.get(event.type)?.version ?? 1),
  commandId: context.commandId,
  correlationId: context.correlationId,
  causationId: context.causationId,
  actor: context.actor,
  ...(context.mode === undefined ? {} : { mode: context.mode }),
  ...(context.companyId === undefined ? {} : { companyId: context.companyId }),
  recordedAt: context.now,
  ...(context.traceparent === undefined ? {} : { traceparent: context.traceparent }),
  prevHash,
});
