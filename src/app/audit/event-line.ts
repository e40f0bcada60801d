import * as v from 'valibot';
import type { Json, JsonObject, LogPosition, RecordedEvent } from '../../ports/event-log.js';
import type { SealedTextChanged, SealingKeys } from '../../ports/sealing-keys.js';
import { openOwnField, sealedFieldsOf } from '../event-store/codec.js';
import { integerFrom0, position, readJson, strictObject, text } from './schema-parts.js';

const schema = strictObject({
  position,
  stream: v.pipe(text, v.minLength(1)),
  revision: integerFrom0,
  type: text,
  id: text,
  at: text,
  data: v.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  meta: v.record(text, text),
  /** With `--reveal`: personal fields in clear. `data` keeps the sealed ones, so that the hash can be recomputed. */
  revealed: v.optional(v.unknown()),
});

/** An event as commands show it and exports hold it (docs/operations/audit.md#an-export-and-its-manifest); personal fields stay sealed in `data`. */
export type ShownEvent = v.InferOutput<typeof schema>;

export const describeEvent = ({ position, stream, revision, type, id, data, metadata }: RecordedEvent): ShownEvent => ({
  position: String(position),
  stream,
  revision,
  type,
  id,
  at: metadata.recordedAt ?? '',
  data,
  meta: metadata,
});

/**
 * The event with its personal fields in clear beside the sealed ones. A field whose key was destroyed stays sealed, and so does a field that cannot be
 * opened, which `onFault` gets.
 */
export const revealEvent = async (
  recorded: RecordedEvent,
  keys: SealingKeys,
  onFault: (fault: SealedTextChanged) => void,
): Promise<ShownEvent> => {
  const revealed: Record<string, Json> = {};
  for (const sealed of sealedFieldsOf(recorded)) {
    const opened = await openOwnField(recorded, sealed, keys, onFault);
    if (opened !== undefined) revealed[sealed.field] = opened;
  }
  const shown = describeEvent(recorded);
  return Object.keys(revealed).length === 0 ? shown : { ...shown, revealed };
};

/** The event of one line of an export; undefined when the line is not an event. */
export const readEventLine = (line: string): RecordedEvent | undefined => {
  const event = readJson(schema, line);
  if (event === undefined || event.at !== (event.meta.recordedAt ?? '')) return undefined;
  const { position, stream, revision, type, id, data, meta: metadata } = event;
  return { position: BigInt(position) as LogPosition, stream, revision, type, id, data, metadata };
};
