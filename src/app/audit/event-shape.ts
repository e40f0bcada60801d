import * as v from 'valibot';
import type { RecordedEvent } from '../../ports/event-log.js';
import { isWrongKindOfKey, sealingMode } from '../../ports/sealing-keys.js';
import { type DecodedEvent, decodeSealed, sealedFieldsOf } from '../event-store/codec.js';
import { eventTypeDefinitions } from '../event-store/event-types.js';
import { sealedWith } from '../event-store/sealing.js';
import { dataSchemas, earlierInvoiceSchemas } from './event-schema.js';
import { hash, instant, mode, optional, strictObject, text } from './schema-parts.js';

const metadataSchema = strictObject({
  schemaVersion: v.pipe(text, v.regex(/^[1-9]\d{0,3}$/, 'must be a version')),
  commandId: text,
  correlationId: text,
  causationId: text,
  actor: v.pipe(text, v.regex(/^(?:apiKey|worker|timer|support):/, 'must be a kind and a name')),
  mode: optional(mode),
  companyId: optional(text),
  recordedAt: instant,
  traceparent: optional(text),
  prevHash: v.union([v.literal(''), hash]),
  hash,
});

/** The event in its newest version, still sealed, or what is wrong with its shape. A fault never quotes a value. */
type ShapeCheck = { event: DecodedEvent } | { fault: string };

export const checkShape = (recorded: RecordedEvent): ShapeCheck => {
  const metadataFault = faultOf(metadataSchema, recorded.metadata);
  if (metadataFault !== undefined) return { fault: `metadata: ${metadataFault}` };
  const schema = dataSchemas.get(recorded.type);
  const version = Number(recorded.metadata.schemaVersion);
  if (schema === undefined || version > (eventTypeDefinitions.get(recorded.type)?.version ?? 0)) {
    return { fault: `type ${recorded.type.slice(0, 60)} of version ${version} is not known to this program` };
  }
  const event = decodeSealed(recorded);
  const earlier = (earlierInvoiceSchemas as Record<string, readonly v.GenericSchema[]>)[recorded.type];
  const fault = faultOf(earlier?.[version - 1] ?? schema, event.data);
  return fault === undefined ? { event } : { fault };
};

/** The fault of a sealing, if any: live fields need a generation of the master key, fields of a test invoice a day key, each for this event. */
export const sealingFault = (recorded: RecordedEvent): string | undefined => {
  for (const { field, text } of sealedFieldsOf(recorded)) {
    const { generation, eventId } = sealedWith(text) ?? {};
    if (eventId !== recorded.id) return `${field} was sealed for another event`;
    if (isWrongKindOfKey(generation ?? '', recorded.stream)) {
      return `${field} of a ${sealingMode(recorded.stream) === 'test' ? 'test invoice' : 'live stream'} is sealed under the wrong kind of key`;
    }
  }
  return undefined;
};

const faultOf = (schema: v.GenericSchema, value: unknown): string | undefined => {
  const { issues } = v.safeParse(schema, value, { abortEarly: true });
  const [first] = issues ?? [];
  if (first === undefined) return undefined;
  // Other messages of the library quote the value.
  const why =
    first.type === 'regex' || first.message.startsWith('must ')
      ? first.message
      : `is not ${first.expected ?? 'expected'}`;
  return `${v.getDotPath(first) ?? 'data'} ${why}`.slice(0, 200);
};
