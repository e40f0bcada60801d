import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeEvents } from '../../src/app/event-store/codec.js';
import { type DomainEvent, eventTypeDefinitions } from '../../src/app/event-store/event-types.js';
import { hashText } from '../../src/domain/log/hash-text.js';
import { hashSamples } from './golden-hash-samples.js';
import { goldenKeys, goldenSamples, goldenStream, goldenVariants } from './golden-samples.js';

/**
 * Writes the golden files that are missing and adds their checksums; one that exists is never touched, because it
 * represents events in real logs. Run it after adding an event type, a version or a field.
 */
const golden = fileURLToPath(new URL('../golden', import.meta.url));

const writeOnce = (folder: 'events' | 'hash', name: string, content: unknown): void => {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  writeFileSync(join(golden, folder, name), text, { flag: 'wx' });
  const checksum = createHash('sha256').update(text).digest('hex');
  appendFileSync(join(golden, folder, 'CHECKSUMS'), `${checksum}  ${name}\n`);
  process.stdout.write(`${folder}/${name}\n`);
};

const isMissing = (folder: 'events' | 'hash', name: string): boolean => !existsSync(join(golden, folder, name));

/** Every event to be written down, by the name of its file. */
const events: readonly (readonly [name: string, event: DomainEvent])[] = [
  ...Object.entries(goldenSamples).map(
    ([type, data]) =>
      [`${type}.v${eventTypeDefinitions.get(type)?.version ?? 1}.json`, { type, data } as DomainEvent] as const,
  ),
  ...Object.entries(goldenVariants).map(([name, event]) => [`${name}.json`, event] as const),
];

const writeEvents = async (): Promise<void> => {
  for (const [name, { type, data: opened }] of events) {
    if (!isMissing('events', name)) continue;
    const stream = goldenStream(type);
    const context = {
      commandId: '00000000-0000-4000-8000-000000000001',
      correlationId: 'req_golden',
      causationId: 'req_golden',
      actor: 'support:golden' as const,
      mode: 'live' as const,
      companyId: '12345678000195',
      now: '2026-11-21T12:00:00.000Z',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      site: 'accept_invoice' as const,
    };
    const place = { kind: 'at' as const, revision: 4, hash: 'cd'.repeat(32) };
    const [event] = await encodeEvents(stream, place, [{ type, data: opened } as DomainEvent], context, goldenKeys);
    writeOnce('events', name, { event: { stream, revision: 5, ...event }, opened });
  }
};

const writeHashVectors = (): void => {
  for (const [name, { stream, revision, event }] of Object.entries(hashSamples)) {
    if (!isMissing('hash', `${name}.json`)) continue;
    const text = hashText(stream, revision, event);
    const sha256 = createHash('sha256').update(text, 'utf8').digest('hex');
    writeOnce('hash', `${name}.json`, { stream, revision, event, text, sha256 });
  }
};

await writeEvents();
writeHashVectors();
