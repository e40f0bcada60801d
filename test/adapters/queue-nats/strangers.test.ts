import type { JetStreamClient } from 'nats';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { StreamName } from '../../../src/domain/common/ids.js';
import type { WorkItem } from '../../../src/ports/work-queue.js';
import { streamNamed } from '../../support/fixture/named-streams.js';
import { bound, itemOf, openQueueHarness, type QueueHarness, sweptItemOf } from '../../support/harness/nats-queue.js';
import { type NatsServer, startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';

const waiting = itemOf('waits');
const PARKED_AT = '2026-11-21T12:00:00.000Z';

/** What another program may write on the subject of `waiting`, by what is wrong with it. */
const STRANGE: Readonly<Record<string, object>> = {
  'another invoice': { ...waiting, stream: streamNamed('other') },
  'a test invoice': { ...waiting, stream: streamNamed('test other') },
  'another kind of work': { ...waiting, kind: 'cancel' },
  'a company': { ...waiting, stream: 'company-12345678000195' },
  'a series': { ...waiting, stream: 'dpsLive-12345678000195_1' },
  'a name with NUL': { ...waiting, stream: `${waiting.stream}\u0000` },
  'a name with a line break': { ...waiting, stream: `${waiting.stream}\n` },
  'no name': { ...waiting, stream: '' },
  'a name of 9,000 characters': { ...waiting, stream: 'x'.repeat(9_000) },
  'a message id of 9,000 characters': { ...waiting, messageId: 'x'.repeat(9_000) },
  'a message id with a line break': { ...waiting, messageId: 'a\nb' },
  'no message id': { ...waiting, messageId: '' },
};

describeWith('natsServer', 'messages of another program on the subjects of the NATS queue', () => {
  let server: NatsServer;
  let harness: QueueHarness;
  let js: JetStreamClient;
  beforeAll(async () => {
    server = await startNats();
    js = (await server.admin()).jetstream();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    harness = openQueueHarness(server.url);
  });
  afterEach(() => harness.close());

  const told = (): readonly string[] => harness.notices.map(({ kind }) => kind).filter((kind) => kind !== 'connected');

  it.each(Object.entries(STRANGE))('is removed at once and keeps no work away: %s', async (_what, strange) => {
    const queue = await harness.open();
    await js.publish(harness.names.work(waiting), JSON.stringify(strange));
    const handled: StreamName[] = [];
    harness.work(queue, {
      handle: async ({ stream }) => {
        handled.push(stream);
        return { kind: 'park', reason: 'poison' };
      },
    });
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect([handled, told()]).toEqual([[], ['unreadable']]);
    await queue.put(sweptItemOf('waits', 'sweep'));
    await vi.waitFor(() => expect(handled).toEqual([waiting.stream]), bound);
    await vi.waitFor(() => expect(told()).toEqual(['unreadable', 'parked']), bound);
    expect(queue.status()).toEqual({ ok: true });
  });

  it('are removed from the parked work, which names and counts what its own invoices have parked', async () => {
    const queue = await harness.open();
    harness.work(queue, { handle: async () => ({ kind: 'park', reason: 'poison' }) });
    await queue.put(itemOf('ours'));
    await vi.waitFor(async () => expect(await queue.isParked(streamNamed('ours'))).toBe(true), bound);
    const forged = { reason: 'x', parkedAt: PARKED_AT, workSequence: 1 };
    const strange = Object.values(STRANGE);
    for (const [index, record] of strange.entries()) {
      // Each on a subject of its own, because the stream keeps one message of each.
      const subject = index === 0 ? harness.names.parked(waiting) : `${harness.names.parked(waiting)}-${index}`;
      await js.publish(subject, JSON.stringify({ ...record, ...forged }));
    }
    expect([await queue.isParked(waiting.stream), await queue.retryParked(waiting.stream)]).toEqual([false, false]);
    expect(await queue.parked()).toMatchObject({ count: 1, work: [itemOf('ours')] });
    expect(harness.notices).toContainEqual({ kind: 'unreadable_parked', removed: strange.length });
    expect(await queue.parked()).toMatchObject({ count: 1 });
    const { streams } = await js.jetstreamManager();
    expect((await streams.info(harness.names.parkedStream)).state.messages).toBe(1);
  });

  it('are told from work items and records of older processes, of each kind and lane, which are taken', async () => {
    const queue = await harness.open();
    const id = '0a1b2c3d-0000-4000-8000-00000000000f';
    const prefix = harness.names.workStream.replace(/-work$/, '');
    const texts = (['Live', 'Test'] as const).flatMap((mode) =>
      (['issue', 'cancel'] as const).map((kind) => {
        const stream = `nfse${mode}-1B345678000195_${id}`;
        const work = `${prefix}.work.${kind}.${mode.toLowerCase()}.${stream}`;
        return { kind, stream, work, parked: `${prefix}.parked.${kind}.${stream}` };
      }),
    );
    const handled: WorkItem[] = [];
    harness.work(queue, {
      handle: async ({ deliveries: _deliveries, ...item }) => {
        handled.push(item);
        return { kind: 'ack' };
      },
    });
    for (const messageId of [id, `STREAM/2026-11-21T12:00:00.000Z/123456/86400`, 'STREAM/refill']) {
      handled.length = 0;
      const items = texts.map(({ kind, stream }) => ({ kind, stream, messageId: messageId.replace('STREAM', stream) }));
      for (const [index, item] of items.entries()) await js.publish(texts[index]?.work ?? '', JSON.stringify(item));
      await vi.waitFor(() => expect(handled).toHaveLength(items.length), bound);
      expect(handled).toEqual(expect.arrayContaining(items));
      for (const [index, item] of items.entries()) {
        const record = { ...item, reason: 'failed 31 times', parkedAt: PARKED_AT };
        await js.publish(texts[index]?.parked ?? '', JSON.stringify(record));
      }
      expect((await queue.parked()).work).toMatchObject(items);
    }
    expect(told()).toEqual([]);
  });
});
