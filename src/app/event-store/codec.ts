import type { StreamName } from '../../domain/common/ids.js';
import { type Instant, instantOfStamp } from '../../domain/common/time.js';
import { hashText, inOrder } from '../../domain/log/hash-text.js';
import type { EventToAppend, Json, JsonObject, LogPosition, RecordedEvent, Revision } from '../../ports/event-log.js';
import { SealedTextChanged, type SealingKeys, sealingMode } from '../../ports/sealing-keys.js';
import type { AppendContext, CommandContext } from './command-context.js';
import { type DomainEvent, eventTypeDefinitions, type ReadEvent } from './event-types.js';
import { sha256Hex, uuidV8OfHash } from './hashes.js';
import { isSealed, openField, sealedWith, sealField } from './sealing.js';

/** `firstRecordedAt`: when the stream's first event was recorded, where it is known. */
export type StreamVersion =
  | { kind: 'none' }
  | { kind: 'at'; revision: Revision; hash: string; firstRecordedAt?: Instant };

/** An event of a stream, at any position of the log. */
export type StreamEvent<E extends DomainEvent = DomainEvent> = ReadEvent<E> & {
  id: string;
  stream: StreamName;
  revision: Revision;
  metadata: Readonly<Record<string, string>>;
};

export type DecodedEvent<E extends DomainEvent = DomainEvent> = StreamEvent<E> & { position: LogPosition };

/** Thrown for an event of an unknown type or of a newer version than this program knows: the reader must halt. */
export class UnknownEventVersion extends Error {
  override readonly name = 'UnknownEventVersion';
  /** When the event says that it was recorded; undefined where it does not, as an event of another program. */
  readonly recordedAt: Instant | undefined;
  constructor(message: string, recordedAt?: Instant) {
    super(message);
    this.recordedAt = recordedAt;
  }
}

/** Ids derive from the command, so that the log recognises an append that is made twice. */
export const eventIdOf = (commandId: string, index: number): string => uuidV8OfHash(sha256Hex(`${commandId}/${index}`));

/** Seals the personal fields, completes the metadata and links each event to the one before it. */
export const encodeEvents = async (
  stream: StreamName,
  version: StreamVersion,
  events: readonly DomainEvent[],
  context: AppendContext,
  keys: SealingKeys,
): Promise<readonly EventToAppend[]> => {
  let prevHash = version.kind === 'none' ? '' : version.hash;
  // All events of a test invoice use the key of its first day, so that a later event does not keep any copy readable for longer (ADR 25).
  const dayOfKey = version.kind === 'none' ? context.now : (version.firstRecordedAt ?? context.now);
  let revision = version.kind === 'none' ? 0 : version.revision + 1;
  let command = { id: '', events: 0 };
  const encoded: EventToAppend[] = [];
  for (const [index, event] of events.entries()) {
    const own = context.ofEvents?.[index] ?? context;
    if (own.commandId !== command.id) command = { id: own.commandId, events: 0 };
    const id = eventIdOf(command.id, command.events);
    // In order here, so that no later step has to sort the keys again.
    const data = inOrder(await sealData(stream, id, event, dayOfKey, keys)) as JsonObject;
    const unhashed = { id, type: event.type, data, metadata: metadataOf(event, own, prevHash) };
    const text = hashText(stream, revision, unhashed);
    const hash = sha256Hex(text);
    unhashed.metadata.hash = hash;
    encoded.push({ ...unhashed, hashText: text });
    prevHash = hash;
    revision += 1;
    command.events += 1;
  }
  return encoded;
};

/**
 * Opens the personal fields; a field whose key was destroyed is left out. Throws `UnknownEventVersion`, and `SealedTextChanged`, whose message names
 * event and field. With `onFault` a field that cannot be opened is left out instead.
 */
export const decodeEvent = async (
  recorded: RecordedEvent,
  keys: SealingKeys,
  onFault?: (fault: SealedTextChanged) => void,
): Promise<DecodedEvent> => {
  let data = recorded.data;
  for (const field of definitionOf(recorded).personal) {
    const text = data[field];
    if (!isSealed(text)) continue;
    const opened = await openOwnField(recorded, { field, text }, keys, onFault);
    const { [field]: _sealed, ...rest } = data;
    data = opened === undefined ? rest : { ...rest, [field]: opened };
  }
  return decodeSealed({ ...recorded, data });
};

/**
 * Opens one sealed field of an event. Undefined when its key was destroyed. Throws `SealedTextChanged`, whose message names event and field; with
 * `onFault` the answer is undefined instead.
 */
export const openOwnField = async (
  { stream, revision, id: eventId }: RecordedEvent,
  { field, text }: { field: string; text: string },
  keys: SealingKeys,
  onFault?: (fault: SealedTextChanged) => void,
): Promise<Json | undefined> => {
  try {
    const sealed = sealedWith(text);
    if (sealed?.eventId !== eventId) throw new SealedTextChanged('it is not of this event');
    const key = await keys.forOpening(sealed.generation, stream);
    return key && openField(text, { stream, eventId, field }, key);
  } catch (error) {
    if (!(error instanceof SealedTextChanged)) throw error;
    const placed = error.inField(field, `${stream}@${revision}`);
    if (onFault === undefined) throw placed;
    onFault(placed);
    return undefined;
  }
};

/** Converts an event to the newest schema version; personal fields stay as they are. Throws `UnknownEventVersion`. */
export const decodeSealed = (recorded: RecordedEvent): DecodedEvent => {
  const { stream, revision, position, id, metadata, type } = recorded;
  let data = recorded.data;
  for (const upcast of definitionOf(recorded).upcasts.slice(Number(metadata.schemaVersion) - 1)) data = upcast(data);
  return { type, data, id, stream, revision, position, metadata } as unknown as DecodedEvent;
};

/** Opens one personal value that was copied from its event, for instance to a row of the read model. Undefined when its key is gone. */
export const openCopiedField = async (
  value: unknown,
  stream: StreamName,
  field: string,
  keys: SealingKeys,
): Promise<Json | undefined> => {
  if (!isSealed(value)) return value as Json | undefined;
  const sealed = sealedWith(value);
  const key = sealed === undefined ? undefined : await keys.forOpening(sealed.generation, stream);
  return sealed && key && openField(value, { stream, eventId: sealed.eventId, field }, key);
};

/**
 * The sealed fields of an event with their text. Only personal fields are looked at: a client may write text in another field that begins as sealed
 * text does.
 */
export const sealedFieldsOf = ({
  type,
  data,
}: Pick<RecordedEvent, 'type' | 'data'>): readonly { field: string; text: string }[] =>
  (eventTypeDefinitions.get(type)?.personal ?? []).flatMap((field) => {
    const text = data[field];
    return isSealed(text) ? [{ field, text }] : [];
  });

const definitionOf = ({ type, metadata, stream, revision }: RecordedEvent) => {
  const definition = eventTypeDefinitions.get(type);
  const version = Number(metadata.schemaVersion);
  if (definition === undefined || !(version <= definition.version)) {
    throw new UnknownEventVersion(
      `event type ${type}, schema version ${metadata.schemaVersion}, at ${shownName(stream)}@${revision}: newer than this program`,
      metadata.recordedAt === undefined ? undefined : instantOfStamp(metadata.recordedAt),
    );
  }
  return definition;
};

/** The stream of an entry of the tax registry names a customer. */
const shownName = (stream: StreamName): string => (stream.startsWith('registry-') ? 'registry-…' : stream);

const sealData = async (
  stream: StreamName,
  eventId: string,
  event: DomainEvent,
  dayOfKey: Instant,
  keys: SealingKeys,
): Promise<JsonObject> => {
  const data: Record<string, Json> = { ...(event.data as unknown as JsonObject) };
  const personal = (eventTypeDefinitions.get(event.type)?.personal ?? []).filter((field) => data[field] !== undefined);
  if (personal.length === 0) return data;
  const key = await keys.forSealing(sealingMode(stream), stream, dayOfKey);
  for (const field of personal) {
    const value = data[field];
    if (value !== undefined) data[field] = sealField(value, { stream, eventId, field }, key);
  }
  return data;
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
