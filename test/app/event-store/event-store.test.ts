import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { revealEvent } from '../../../src/app/audit/event-line.js';
import { examineEvent } from '../../../src/app/audit/examine.js';
import { decodeEvent, eventIdOf, sealedFieldsOf, UnknownEventVersion } from '../../../src/app/event-store/codec.js';
import { createEventStore, NO_STREAM } from '../../../src/app/event-store/event-store.js';
import { sha256Hex } from '../../../src/app/event-store/hashes.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent, ReadInvoiceEvent } from '../../../src/domain/invoice/events.js';
import { hashText } from '../../../src/domain/log/hash-text.js';
import type { EventLog, RecordedEvent } from '../../../src/ports/event-log.js';
import { accepted, attempted, authorized, T0 } from '../../support/fixture/invoice.js';
import { appendTo, contextAt, fixedKeys, generationOf } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { verifyChain } from '../../support/verify-chain.js';

const streamOf = (mode: Mode): string => invoiceStream(mode, '12345678000195', '11111111-1111-4111-8111-111111111111');

const stream = streamOf('live');

const setUp = () => {
  const log = memoryEventLog();
  const keys = fixedKeys();
  return { log, keys, store: createEventStore(log, keys) };
};

const only = async (log: EventLog, name = stream): Promise<RecordedEvent> => {
  const [event] = await log.read(name);
  if (event === undefined) throw new Error('the stream is empty');
  return event;
};

const dataOf = (events: readonly ReadInvoiceEvent[]): readonly unknown[] =>
  events.map(({ type, data }) => ({ type, data }));

describe('the event store', () => {
  it('gives back what was appended, and keeps personal fields sealed in the log', async () => {
    const { log, store } = setUp();
    const events = [accepted(), attempted(1, 1), authorized(1, 2)];
    await appendTo(store, stream, events, T0);
    expect(dataOf((await store.load<InvoiceEvent>(stream)).events)).toEqual(dataOf(events));
    const stored = JSON.stringify((await log.read(stream)).map(({ data }) => data));
    for (const personal of ['CLIENTE LTDA', 'Desenvolvimento', '11111111000191', 'H4sI'])
      expect(stored).not.toContain(personal);
    expect(stored).toContain('pedido-1');
  });

  it('gives back a description that looks like sealed text', async () => {
    const { store } = setUp();
    const event = accepted({ description: 'sealed:1:m1:x:y:z' });
    await appendTo(store, stream, [event], T0);
    expect(dataOf((await store.load<InvoiceEvent>(stream)).events)).toEqual(dataOf([event]));
  });

  it('takes clear text that begins as sealed text does for what it is, in every reader of an event', async () => {
    const { log, keys, store } = setUp();
    const typed = 'sealed:1:t9999-99-99:x';
    const event = accepted({ reference: typed, description: typed });
    await appendTo(store, stream, [event], T0);
    const recorded = await only(log);
    expect(dataOf((await store.load<InvoiceEvent>(stream)).events)).toEqual(dataOf([event]));
    expect(sealedFieldsOf(recorded).map(({ field }) => field)).toEqual(['customer', 'description']);
    expect((await revealEvent(recorded, keys, () => undefined)).revealed).toEqual({
      customer: expect.anything(),
      description: typed,
    });
    expect(examineEvent(recorded)).toMatchObject({
      isHashed: true,
      shapeFault: undefined,
      sealingFault: undefined,
      sealedUnder: generationOf.live,
    });
  });

  it('refuses a sealed field that was moved to another event', async () => {
    const { log, keys, store } = setUp();
    await appendTo(store, stream, [accepted(), accepted({ description: 'segunda' })], T0);
    const [first, second] = await log.read(stream);
    if (first === undefined || second === undefined) throw new Error('two events were stored');
    const moved = { ...second, data: { ...second.data, customer: first.data.customer ?? '' } };
    await expect(decodeEvent(moved, keys)).rejects.toThrow(
      `${stream}@1: the sealed field customer cannot be opened: it is not of this event`,
    );
    expect(await decodeEvent(second, keys)).toMatchObject({ data: { description: 'segunda' } });
  });

  it('refuses a sealed field that was moved to another field or stream', async () => {
    const { log, keys, store } = setUp();
    await appendTo(store, stream, [accepted()], T0);
    const event = await only(log);
    const swapped = { ...event, data: { ...event.data, customer: event.data.description ?? '' } };
    await expect(decodeEvent(swapped, keys)).rejects.toThrow();
    await expect(decodeEvent({ ...event, stream: streamOf('test') }, keys)).rejects.toThrow();
  });

  it('leaves a field out whose key was destroyed, and nothing else', async () => {
    const { keys, store } = setUp();
    await appendTo(store, streamOf('test'), [accepted({ mode: 'test' })], T0);
    keys.destroy(generationOf.test);
    const [event] = (await store.load<InvoiceEvent>(streamOf('test'))).events;
    expect(event?.data).not.toHaveProperty('customer');
    expect(event?.data).not.toHaveProperty('description');
    expect(event?.data).toMatchObject({ amountInCents: 150_000, reference: 'pedido-1' });
  });

  it('fails instead of leaving a field out when a key cannot be had now', async () => {
    const { log, keys, store } = setUp();
    await appendTo(store, stream, [accepted()], T0);
    const unavailable = { ...keys, forOpening: () => Promise.reject(new Error('vault')) };
    await expect(decodeEvent(await only(log), unavailable)).rejects.toThrow('vault');
  });

  it.each([
    ['a newer version', 'InvoiceAccepted', '3'],
    ['a type never heard of', 'InvoiceTeleported', '1'],
    ['no version at all', 'InvoiceAccepted', undefined],
  ])('halts on %s', async (_what, type, schemaVersion) => {
    const { log, store } = setUp();
    const metadata = { ...(schemaVersion === undefined ? {} : { schemaVersion }), prevHash: '', hash: 'h' };
    await log.append(stream, { kind: 'none' }, [{ id: randomUUID(), type, data: {}, metadata }]);
    await expect(store.load(stream)).rejects.toBeInstanceOf(UnknownEventVersion);
  });

  it('links every event to the one before it, across appends', async () => {
    const { log, store } = setUp();
    await appendTo(store, stream, [accepted(), attempted(1, 1)], T0);
    await appendTo(store, stream, [authorized(1, 2)], T0);
    const events = await log.read(stream);
    expect(events.map(({ metadata }) => metadata.prevHash)).toEqual([
      '',
      ...events.slice(0, -1).map(({ metadata }) => metadata.hash),
    ]);
    for (const event of events) expect(sha256Hex(hashText(stream, event.revision, event))).toBe(event.metadata.hash);
    expect((await verifyChain(log, ['nfse'])).findings).toEqual([]);
  });

  it('records who asked, when and why, as flat text', async () => {
    const { log, store } = setUp();
    const context = contextAt(T0, { actor: 'apiKey:key_1', mode: 'live', companyId: '12345678000195' });
    await store.append(stream, NO_STREAM, [accepted()], context);
    const { site: _site, now, ...rest } = context;
    expect((await only(log)).metadata).toMatchObject({ ...rest, recordedAt: now, schemaVersion: '2', prevHash: '' });
  });

  it('answers a repeated command with the first result and stores nothing more', async () => {
    const { log, store } = setUp();
    const context = contextAt(T0);
    expect(await store.append(stream, NO_STREAM, [accepted()], context)).toMatchObject({ ok: true });
    const before = await log.read(stream);
    expect(await store.append(stream, NO_STREAM, [accepted()], context)).toMatchObject({ ok: true });
    expect(await log.read(stream)).toEqual(before);
    await appendTo(store, stream, [attempted(1, 1)], T0);
    expect((await verifyChain(log, ['nfse'])).findings).toEqual([]);
  });

  it('refuses the second of two concurrent commands', async () => {
    const { log, store } = setUp();
    expect(await store.append(stream, NO_STREAM, [accepted()], contextAt(T0))).toMatchObject({ ok: true });
    expect(await store.append(stream, NO_STREAM, [accepted()], contextAt(T0))).toEqual({ ok: false });
    expect(await log.read(stream)).toHaveLength(1);
  });

  it('derives event ids from the command and the place in it', () => {
    expect(eventIdOf('a', 0)).toBe(eventIdOf('a', 0));
    expect(new Set([eventIdOf('a', 0), eventIdOf('a', 1), eventIdOf('b', 0)]).size).toBe(3);
    expect(eventIdOf('a', 0)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
