import { connect, type NatsConnection, StorageType } from 'nats';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WorkQueueUnavailable } from '../../../src/ports/work-queue.js';
import { streamNamed } from '../../support/fixture/named-streams.js';
import { gate } from '../../support/gate.js';
import {
  bound,
  itemOf,
  natsForEachTest,
  putUntilTaken,
  type QueueHarness,
  sweptItemOf,
} from '../../support/harness/nats-queue.js';
import type { NatsServer, NatsServerOptions } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';

const ack = { kind: 'ack' } as const;

describeWith('natsServer', 'the NATS queue, when its server fails', () => {
  let server: NatsServer;
  let harness: QueueHarness;
  const beginAnew = natsForEachTest((begun) => {
    ({ server, harness } = begun);
  });
  const restart = async (): Promise<void> => {
    await server.kill();
    await server.start();
  };
  const manager = async () => (await server.admin()).jetstreamManager();

  it('handles each of 200 work items although the server is killed while they are handled', async () => {
    const queue = await harness.open();
    const handled = new Set<string>();
    const half = gate();
    const goOn = gate();
    harness.work(queue, {
      concurrency: 16,
      handle: async ({ stream }) => {
        if (handled.size >= 50) {
          half.open();
          await goOn.opened;
        }
        handled.add(stream);
        return ack;
      },
    });
    for (let index = 0; index < 100; index += 1) await queue.put(itemOf(`s${index}`));
    await half.opened;
    await server.kill();
    await vi.waitFor(() => expect(queue.status()).toEqual({ ok: false, reason: 'not connected' }), bound);
    await expect(queue.put(itemOf('s100'))).rejects.toThrow(WorkQueueUnavailable);
    await expect(queue.depth()).rejects.toThrow(WorkQueueUnavailable);
    goOn.open();
    await server.start();
    for (let index = 100; index < 200; index += 1) await putUntilTaken(queue, itemOf(`s${index}`));
    await vi.waitFor(() => expect(handled.size).toBe(200), bound);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(queue.status()).toEqual({ ok: true });
  });

  it('says that the server refuses it since its restart, and works again once it does not', async () => {
    const options: NatsServerOptions = { identity: { user: 'nfse', password: 'old' } };
    await beginAnew(options);
    const queue = await harness.open();
    options.identity = { user: 'nfse', password: 'new' };
    await restart();
    const reason = 'AUTHORIZATION_VIOLATION';
    await vi.waitFor(() => expect(queue.status()).toEqual({ ok: false, reason }), bound);
    for (let put = 0; put < 3; put += 1) await expect(queue.put(itemOf('s1'))).rejects.toMatchObject({ code: reason });
    expect(harness.notices.filter(({ kind }) => kind === 'put_failed')).toEqual([{ kind: 'put_failed', code: reason }]);
    options.identity = { user: 'nfse', password: 'old' };
    await restart();
    await vi.waitFor(() => expect(queue.status()).toEqual({ ok: true }), bound);
  });

  it('ends its work while the server is away', async () => {
    const queue = await harness.open();
    const worker = harness.work(queue, { handle: async () => ack });
    await server.kill();
    await vi.waitFor(() => expect(queue.status().ok).toBe(false), bound);
    worker.abort();
    await worker.ended;
    await queue.close();
  });

  it('ends its work while the server is silent and then lost before the last answers are sent', async () => {
    const queue = await harness.open();
    const worker = harness.work(queue, { handle: async () => ack });
    const flush = vi.spyOn(Object.getPrototypeOf(await server.admin()) as NatsConnection, 'flush');
    onTestFinished(() => flush.mockRestore());
    server.freeze();
    worker.abort();
    await vi.waitFor(() => expect(flush).toHaveBeenCalled(), bound);
    await server.kill();
    await worker.ended;
    await queue.close();
  });

  it('works again after its storage was wiped', async () => {
    const queue = await harness.open();
    const streams: string[] = [];
    harness.work(queue, {
      handle: async ({ stream }) => {
        streams.push(stream);
        return ack;
      },
    });
    await queue.put(itemOf('before'));
    await vi.waitFor(() => expect(streams).toEqual([streamNamed('before')]), bound);
    await server.kill();
    await server.wipe();
    await server.start();
    await putUntilTaken(queue, itemOf('after'));
    await vi.waitFor(() => expect(streams).toEqual(['before', 'after'].map(streamNamed)), bound);
  });

  it('works again after its streams were deleted, from the next put on', async () => {
    const queue = await harness.open();
    const streams: string[] = [];
    harness.work(queue, {
      handle: async ({ stream }) => {
        streams.push(stream);
        return ack;
      },
    });
    const { streams: all } = await manager();
    await all.delete(harness.names.workStream);
    await all.delete(harness.names.parkedStream);
    await queue.put(itemOf('after'));
    await vi.waitFor(() => expect(streams).toEqual([streamNamed('after')]), bound);
  });

  it('makes a deleted consumer again before the next check, and loses no waiting work item', async () => {
    const queue = await harness.open({ checkMs: 600_000 });
    const streams: string[] = [];
    const hold = gate();
    harness.work(queue, {
      handle: async ({ stream }) => {
        streams.push(stream);
        await hold.opened;
        return ack;
      },
    });
    await queue.put(itemOf('first'));
    await vi.waitFor(() => expect(streams).toEqual([streamNamed('first')]), bound);
    await queue.put(itemOf('second'));
    const { consumers } = await manager();
    for (const { name } of harness.names.consumers) await consumers.delete(harness.names.workStream, name);
    hold.open();
    await vi.waitFor(() => expect(new Set(streams)).toEqual(new Set(['first', 'second'].map(streamNamed))), bound);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(harness.notices).toContainEqual(expect.objectContaining({ kind: 'consumer_rebuilt' }));
  });

  it('refuses work items while the store is full, keeps the others, and takes more when there is room', async () => {
    await beginAnew({ maxStore: 40_000 });
    const queue = await harness.open();
    let taken = 0;
    const fill = async (): Promise<void> => {
      for (; taken < 1_000; taken += 1) await queue.put(itemOf(`s${taken}`));
    };
    await expect(fill()).rejects.toThrow(WorkQueueUnavailable);
    expect(taken).toBeGreaterThan(10);
    await expect(queue.put(sweptItemOf('s1', 'sweep'))).resolves.toBeUndefined();
    const handled = new Set<string>();
    harness.work(queue, {
      concurrency: 8,
      handle: async ({ stream }) => {
        handled.add(stream);
        return ack;
      },
    });
    await vi.waitFor(() => expect(handled.size).toBe(taken), bound);
    await putUntilTaken(queue, itemOf('late'));
    await vi.waitFor(() => expect(handled).toContain(streamNamed('late')), bound);
  });

  it('gives up a put on a silent server within its time limit, and works again when the server answers', async () => {
    const queue = await harness.open({ answerMs: 1_500 });
    const streams: string[] = [];
    harness.work(queue, {
      handle: async ({ stream }) => {
        streams.push(stream);
        return ack;
      },
    });
    await queue.put(itemOf('before'));
    await vi.waitFor(() => expect(streams).toEqual([streamNamed('before')]), bound);
    server.freeze();
    // The server may answer once more before the stop reaches it.
    await vi.waitFor(() => expect(queue.put(itemOf('during'))).rejects.toThrow(WorkQueueUnavailable), bound);
    const silent = expect.objectContaining({ kind: 'consumer_rebuilt', why: 'silent' });
    await vi.waitFor(() => expect(harness.notices).toContainEqual(silent), bound);
    server.thaw();
    await putUntilTaken(queue, itemOf('after'));
    await vi.waitFor(() => expect(streams).toContain(streamNamed('after')), bound);
  });

  it('replaces a connection that was closed for good', async () => {
    const connections: NatsConnection[] = [];
    const queue = await harness.open({
      connect: async (options) => {
        const connection = await connect(options);
        connections.push(connection);
        return connection;
      },
    });
    const streams: string[] = [];
    harness.work(queue, {
      handle: async ({ stream }) => {
        streams.push(stream);
        return ack;
      },
    });
    await connections[0]?.close();
    await putUntilTaken(queue, itemOf('after'));
    await vi.waitFor(() => expect(streams).toEqual([streamNamed('after')]), bound);
    expect(connections).toHaveLength(2);
  });

  it('keeps work that is to be parked until the server has taken its record', async () => {
    const queue = await harness.open();
    const { streams } = await manager();
    await streams.update(harness.names.parkedStream, { max_msg_size: 1 });
    harness.work(queue, { handle: async () => ({ kind: 'park', reason: 'poison' }) });
    await queue.put(itemOf('a'));
    await vi.waitFor(
      () => expect(harness.notices).toContainEqual(expect.objectContaining({ kind: 'verdict_lost' })),
      bound,
    );
    await streams.update(harness.names.parkedStream, { max_msg_size: -1 });
    await vi.waitFor(async () => expect((await queue.parked()).work).toMatchObject([itemOf('a')]), bound);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
  });

  it('keeps the record of work that is parked again before the record of the first time is removed', async () => {
    let looks = 0;
    const isParkedBy = (look: number): Promise<void> =>
      vi.waitFor(async () => expect((await queue.parked()).work).toMatchObject([{ reason: `look ${look}` }]), bound);
    const queue = await harness.open({
      connect: async (options) => {
        const connection = await connect(options);
        const request = connection.request.bind(connection);
        connection.request = async (subject, ...rest) => {
          if (subject.includes('.STREAM.PURGE.')) await isParkedBy(2);
          return await request(subject, ...rest);
        };
        return connection;
      },
    });
    harness.work(queue, {
      handle: async () => {
        looks += 1;
        return { kind: 'park', reason: `look ${looks}` };
      },
    });
    await queue.put(itemOf('a'));
    await isParkedBy(1);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(await queue.retryParked(streamNamed('a'))).toBe(true);
    expect((await queue.parked()).work).toMatchObject([{ reason: 'look 2' }]);
  });

  it('keeps what is parked when the server refuses to take it back', async () => {
    const queue = await harness.open();
    let parking = true;
    harness.work(queue, { handle: async () => (parking ? { kind: 'park', reason: 'poison' } : ack) });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect((await queue.parked()).work).toHaveLength(1), bound);
    const { streams } = await manager();
    await streams.update(harness.names.workStream, { max_msg_size: 1 });
    await expect(queue.retryParked(streamNamed('a'))).rejects.toThrow(WorkQueueUnavailable);
    expect((await queue.parked()).work).toMatchObject([{ ...itemOf('a'), reason: 'poison' }]);
    await streams.update(harness.names.workStream, { max_msg_size: -1 });
    parking = false;
    expect(await queue.retryParked(streamNamed('a'))).toBe(true);
    expect((await queue.parked()).work).toEqual([]);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
  });

  it('shows what is parked beside a record of another program whose time is none', async () => {
    const queue = await harness.open();
    harness.work(queue, { handle: async () => ({ kind: 'park', reason: 'poison' }) });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect((await queue.parked()).work).toHaveLength(1), bound);
    const record = { ...itemOf('b'), reason: 'x', parkedAt: 'x', workSequence: 1 };
    await (await server.admin()).jetstream().publish(harness.names.parked(itemOf('b')), JSON.stringify(record));
    expect((await queue.parked()).work).toMatchObject([{ ...itemOf('a'), reason: 'poison' }]);
  });

  it('cuts a long reason, and reads a bounded number of records', async () => {
    const queue = await harness.open();
    harness.work(queue, { handle: async () => ({ kind: 'park', reason: '\u0001'.repeat(20_000) }) });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect((await queue.parked()).work).toHaveLength(1), bound);
    expect((await queue.parked()).work[0]?.reason).toHaveLength(1_000);
    const js = (await server.admin()).jetstream();
    const forged = { reason: 'x', parkedAt: '2026-11-21T12:00:00.000Z', workSequence: 1 };
    for (let from = 0; from < 2_100; from += 100) {
      const some = Array.from({ length: 100 }, (_, index) => itemOf(`forged-${from + index}`));
      await Promise.all(
        some.map((item) => js.publish(harness.names.parked(item), JSON.stringify({ ...item, ...forged }))),
      );
    }
    expect((await queue.parked()).work).toHaveLength(2_000);
    expect((await queue.parked()).count).toBe(2_101);
    await queue.put(itemOf('b'));
    await vi.waitFor(async () => expect((await queue.parked()).count).toBe(2_102), bound);
    expect(await queue.isParked(itemOf('b').stream)).toBe(true);
    expect(await queue.retryParked(itemOf('b').stream)).toBe(true);
  });

  it('shows what is parked behind thousands of messages of another program that are no records, and removes those', async () => {
    const queue = await harness.open();
    const js = (await server.admin()).jetstream();
    for (let from = 0; from < 2_000; from += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => js.publish(harness.names.parked(itemOf(`no-${from + index}`)), '{}')),
      );
    harness.work(queue, { handle: async () => ({ kind: 'park', reason: 'poison' }) });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect(await queue.isParked(itemOf('a').stream)).toBe(true), bound);
    expect((await queue.parked()).work).toMatchObject([{ ...itemOf('a'), reason: 'poison' }]);
    expect((await queue.parked()).count).toBe(1);
    const { state } = await (await manager()).streams.info(harness.names.parkedStream);
    expect(state.messages).toBe(1);
  });

  it('keeps what is parked over a restart of the server', async () => {
    const queue = await harness.open();
    let parking = true;
    harness.work(queue, { handle: async () => (parking ? { kind: 'park', reason: 'poison' } : ack) });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect((await queue.parked()).work).toHaveLength(1), bound);
    await restart();
    const { work } = await vi.waitFor(() => queue.parked(), bound);
    expect(work).toEqual([{ ...itemOf('a'), reason: 'poison', parkedAt: '2026-11-21T12:00:00.000Z' }]);
    parking = false;
    expect(await queue.retryParked(streamNamed('a'))).toBe(true);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
  });

  it('shows that work items are refused although the server answers all else, until one is taken', async () => {
    await beginAnew({ maxStore: 40_000 });
    const queue = await harness.open();
    const { streams } = await manager();
    await streams.add({ name: 'others', subjects: ['others'], storage: StorageType.File });
    const admin = await server.admin();
    const fill = async (): Promise<void> => {
      for (let index = 0; index < 1_000; index += 1) await admin.jetstream().publish('others', 'x'.repeat(500));
    };
    await expect(fill()).rejects.toThrow();
    await expect(queue.put(itemOf('s1'))).rejects.toThrow(WorkQueueUnavailable);
    expect(queue.status()).toEqual({ ok: false, reason: 'JetStream 10023', isConnected: true });
    queue.anotherPuts();
    expect(queue.status()).toEqual({ ok: true });
    await expect(queue.put(itemOf('s1'))).rejects.toThrow(WorkQueueUnavailable);
    expect(queue.status()).toMatchObject({ ok: false });
    expect(await queue.depth()).toBe(0);
    await streams.delete('others');
    await putUntilTaken(queue, itemOf('s1'));
    expect(queue.status()).toEqual({ ok: true });
  });
});
