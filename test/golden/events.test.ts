import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { dataSchemas } from '../../src/app/audit/event-schema.js';
import { decodeEvent } from '../../src/app/event-store/codec.js';
import { eventTypeDefinitions } from '../../src/app/event-store/event-types.js';
import type { JsonObject, LogPosition, RecordedEvent } from '../../src/ports/event-log.js';
import { goldenKeys } from '../tools/golden-samples.js';
import { sha256Hex } from '../../src/app/event-store/hashes.js';
import { hashText } from '../../src/domain/log/hash-text.js';

type GoldenEvent = { event: Omit<RecordedEvent, 'position'>; opened: JsonObject };

const folder = fileURLToPath(new URL('./events/', import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const textOf = (name: string): string => readFileSync(`${folder}${name}`, 'utf8');
const goldenOf = (name: string) => JSON.parse(textOf(name)) as GoldenEvent;
const recorded = (name: string): RecordedEvent => ({ ...goldenOf(name).event, position: 1n as LogPosition });

/** `InvoiceAccepted.v1` of `InvoiceAccepted.v1.declared.json`, which is a further instance of that version. */
const versionOf = (name: string): string => name.split('.').slice(0, 2).join('.');

const isVariant = (name: string): boolean => name !== `${versionOf(name)}.json`;

const versions = [...eventTypeDefinitions].flatMap(([type, { version }]) =>
  Array.from({ length: version }, (_, index) => `${type}.v${index + 1}.json`),
);

/** Sealed from the next version on: logs of before hold them as they are (ADR 32). */
const plainAtFirst: ReadonlySet<string> = new Set([
  'IssuanceAttempted.v1.digest',
  'NumberConflictFound.v1.foundDigest',
  'CancellationAttempted.v1.digest',
]);

/** The optional fields and the variants of a schema that none of these values shows. */
const notShown = (schema: v.GenericSchema, values: readonly unknown[], path: string): string[] => {
  if (isSchema(schema, 'optional')) {
    const present = values.filter((value) => value !== undefined);
    return present.length === 0 ? [path] : notShown(schema.wrapped, present, path);
  }
  if (isSchema(schema, 'array')) return notShown(schema.item, values.flat(), path);
  if (isSchema(schema, 'strict_object'))
    return Object.entries(schema.entries).flatMap(([key, inner]) =>
      notShown(
        inner,
        values.map((value) => (value as JsonObject)[key]),
        `${path}.${key}`,
      ),
    );
  if (!isSchema(schema, 'variant')) return [];
  return schema.options.flatMap((option, index) => {
    const fitting = values.filter((value) => v.is(option, value));
    return fitting.length === 0 ? [`${path}, variant ${index + 1}`] : notShown(option, fitting, path);
  });
};

type Schemas = {
  optional: v.OptionalSchema<v.GenericSchema, undefined>;
  array: v.ArraySchema<v.GenericSchema, undefined>;
  strict_object: v.StrictObjectSchema<Record<string, v.GenericSchema>, undefined>;
  variant: { readonly type: 'variant'; readonly options: readonly v.GenericSchema[] };
};

const isSchema = <T extends keyof Schemas>(schema: v.GenericSchema, type: T): schema is v.GenericSchema & Schemas[T] =>
  schema.type === type;

describe('golden events', () => {
  it('hold every version of every event type that was ever written', () => {
    expect(names.filter((name) => !isVariant(name)).toSorted()).toEqual(versions.toSorted());
    for (const name of names.filter(isVariant)) expect(versions).toContain(`${versionOf(name)}.json`);
  });

  it('never change: a new version is a new file', () => {
    const listed = readFileSync(`${folder}CHECKSUMS`, 'utf8').trimEnd().split('\n');
    const actual = names.map((name) => `${createHash('sha256').update(textOf(name)).digest('hex')}  ${name}`);
    expect(actual.toSorted()).toEqual(listed.toSorted());
  });

  it.each(names)('%s decodes to exactly what was meant', async (name) => {
    const decoded = await decodeEvent(recorded(name), goldenKeys);
    expect(decoded.data).toStrictEqual(goldenOf(name).opened);
    expect(`${decoded.type}.v${decoded.metadata.schemaVersion}`).toBe(versionOf(name));
  });

  it.each(names)('%s hashes to what it carries', (name) => {
    const event = recorded(name);
    expect(sha256Hex(hashText(event.stream, event.revision, event))).toBe(event.metadata.hash);
  });

  it.each(names)('%s shows no personal field without its key', (name) => {
    const { event } = goldenOf(name);
    for (const field of eventTypeDefinitions.get(event.type)?.personal ?? []) {
      if (plainAtFirst.has(`${versionOf(name)}.${field}`) || event.data[field] === undefined) continue;
      expect(event.data[field]).toMatch(/^sealed:1:golden:/);
    }
  });

  it('show each optional field and each variant of each type', () => {
    const events = names.map((name) => goldenOf(name).event);
    const missing = [...dataSchemas].flatMap(([name, schema]) => {
      // What a company is, `CompanyRegistered` and `CompanyChanged` say by one schema.
      const alike = events.filter(({ type }) => dataSchemas.get(type) === schema);
      return notShown(
        schema,
        alike.map(({ data }) => data),
        name,
      );
    });
    expect(missing).toEqual([]);
  });

  it('hold each personal field of each type, sealed', () => {
    const held = new Set(
      names.flatMap((name) => {
        const { event } = goldenOf(name);
        const isSealed = ([, value]: [string, unknown]): boolean => String(value).startsWith('sealed:1:golden:');
        return Object.entries(event.data)
          .filter(isSealed)
          .map(([field]) => `${event.type}.${field}`);
      }),
    );
    const personal = [...eventTypeDefinitions].flatMap(([type, { personal: fields }]) =>
      fields.map((field) => `${type}.${field}`),
    );
    expect(personal.filter((field) => !held.has(field))).toEqual([]);
  });
});
