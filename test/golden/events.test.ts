import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
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
