import * as v from 'valibot';
import type { StreamName } from '../../domain/shared/ids.js';
import type { JsonObject, LogPosition, RecordedEvent, Revision } from '../../ports/event-log.js';
import { place, shape, text, whole } from './schema-parts.js';

/** An event as commands show it and exports hold it (interface.md "Shapes of --json"); personal fields stay sealed in `data`. */
export type ShownEvent = {
  position: string;
  stream: StreamName;
  revision: Revision;
  type: string;
  id: string;
  at: string;
  data: JsonObject;
  meta: Readonly<Record<string, string>>;
  /** With `--reveal`: personal fields in clear, beside the sealed ones, so that the hash still recomputes. */
  revealed?: JsonObject;
};

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

const schema = shape({
  position: place,
  stream: v.pipe(text, v.minLength(1)),
  revision: whole,
  type: text,
  id: text,
  at: text,
  data: v.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  meta: v.record(text, text),
  revealed: v.optional(v.unknown()),
});

/** The event of one line of an export; undefined for a line that is none. */
export const readEventLine = (line: string): RecordedEvent | undefined => {
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(line), { abortEarly: true });
    if (!success || output.at !== (output.meta.recordedAt ?? '')) return undefined;
    const { position, stream, revision, type, id, data, meta: metadata } = output;
    return { position: BigInt(position) as LogPosition, stream, revision, type, id, data, metadata };
  } catch {
    return undefined;
  }
};
