import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { connect, type NatsConnection } from 'nats';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { QueueNotice } from '../../../src/adapters/queue-nats/link.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { streamNamed } from '../../support/fixture/named-streams.js';
import { gate } from '../../support/gate.js';
import {
  bound,
  itemOf,
  openQueueHarness,
  type QueueHarness,
  removeStreams,
  sweptItemOf,
} from '../../support/harness/nats-queue.js';
import { anyNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';

const ack = { kind: 'ack' } as const;

describeWith('nats', 'the NATS queue at work', () => {
  let server: Awaited<ReturnType<typeof anyNats>>;
  let harness: QueueHarness;
  beforeAll(async () => {
    server = await anyNats();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    harness = openQueueHarness(server.url);
  });
  afterEach(async () => {
    await harness.close();
    await removeStreams(server.url, harness.names);
  });

  it('lets a slow handler keep its work item for longer than the time after which a silent one loses it', async () => {
    const queue = await harness.open({ ackWaitMs: 2_000 });
    const other = await harness.open({ ackWaitMs: 2_000 });
    const longEnough = gate();
    let looks = 0;
    harness.work(queue, {
      concurrency: 2,
      handle: async ({ stream, deliveries }) => {
        if (stream === streamNamed('slow')) {
          looks += 1;
          await longEnough.opened;
        } else if (deliveries === 1) {
          return { kind: 'retry', afterMs: 5_000 };
        } else {
          longEnough.open();
        }
        return ack;
      },
    });
    await queue.put(itemOf('slow'));
    await vi.waitFor(() => expect(looks).toBe(1), bound);
    await queue.put(itemOf('timer'));
    await vi.waitFor(async () => expect(await queue.depth()).toBe(2), bound);
    harness.work(other, {
      handle: async ({ stream }) => {
        if (stream === streamNamed('slow')) looks += 1;
        else longEnough.open();
        return ack;
      },
    });
    await longEnough.opened;
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(looks).toBe(1);
  });

  it('takes no connection of a handler for its own', async () => {
    const elsewhere = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    onTestFinished(() => void elsewhere.close());
    const { port } = elsewhere.address() as AddressInfo;
    const notices: QueueNotice[] = [];
    const queue = await harness.open({ notify: (notice) => notices.push(notice) });
    const sockets: Socket[] = [];
    harness.work(queue, {
      handle: async () => {
        const socket = connectTo(port, '127.0.0.1');
        sockets.push(socket);
        // A socket that the client destroys never connects.
        await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
        return ack;
      },
    });
    for (const name of ['first', 'second', 'third']) {
      await queue.put(itemOf(name));
      await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    }
    expect(notices.map(({ kind }) => kind)).toEqual(['connected']);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
    for (const socket of sockets) socket.destroy();
  });

  it('gives the work item of a process that died to another one', async () => {
    const connections: NatsConnection[] = [];
    const dying = await harness.open({
      connect: async (options) => {
        if (connections.length > 0) throw new Error('dead');
        const connection = await connect(options);
        connections.push(connection);
        return connection;
      },
    });
    const hold = gate();
    let taken = 0;
    harness.work(dying, {
      handle: async () => {
        taken += 1;
        await hold.opened;
        return ack;
      },
    });
    await dying.put(itemOf('a'));
    await vi.waitFor(() => expect(taken).toBe(1), bound);
    await connections[0]?.close();
    const heir = await harness.open();
    const deliveries: number[] = [];
    harness.work(heir, {
      handle: async (delivery) => {
        deliveries.push(delivery.deliveries);
        return ack;
      },
    });
    await vi.waitFor(() => expect(deliveries).toEqual([2]), bound);
    await vi.waitFor(async () => expect(await heir.depth()).toBe(0), bound);
    hold.open();
  });

  it('shares the work items between two processes, each once', async () => {
    const queues = [await harness.open(), await harness.open()];
    const handled: string[] = [];
    const both = new Set<number>();
    const hold = gate();
    for (const [index, queue] of queues.entries()) {
      harness.work(queue, {
        concurrency: 4,
        handle: async ({ stream }) => {
          both.add(index);
          await hold.opened;
          handled.push(stream);
          return ack;
        },
      });
    }
    for (let index = 0; index < 60; index += 1) await queues[0]?.put(itemOf(`s${index}`));
    await vi.waitFor(() => expect(both.size).toBe(2), bound);
    hold.open();
    await vi.waitFor(async () => expect(await queues[0]?.depth()).toBe(0), bound);
    expect(handled).toHaveLength(60);
    expect(new Set(handled).size).toBe(60);
  });

  it('ignores a message id that it took a moment ago, and takes another one for the same stream', async () => {
    const queue = await harness.open();
    const seen: string[] = [];
    harness.work(queue, {
      handle: async ({ messageId }) => {
        seen.push(messageId);
        return ack;
      },
    });
    const put = async (...ids: readonly string[]): Promise<void> => {
      for (const id of ids) {
        await queue.put(itemOf('a', id));
        await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
      }
    };
    const sweep1 = sweptItemOf('a', 'sweep 1').messageId;
    const sweep2 = sweptItemOf('a', 'sweep 2').messageId;
    await put('event', 'event', sweep1, sweep1, sweep2, 'later event');
    expect(seen).toEqual(['event', sweep1, sweep2, 'later event']);
  });

  it('gives work items that it has not begun to others as soon as it is told to end', async () => {
    const leaving = await harness.open({ ackWaitMs: 60_000 });
    const staying = await harness.open({ ackWaitMs: 60_000 });
    const hold = gate();
    let begun = 0;
    const worker = harness.work(leaving, {
      handle: async () => {
        begun += 1;
        await hold.opened;
        return ack;
      },
    });
    await leaving.put(itemOf('a', 'first'));
    await vi.waitFor(() => expect(begun).toBe(1), bound);
    for (const kind of ['cancel', 'issue'] as const) await leaving.put(itemOf('b', `second ${kind}`, kind));
    const others: string[] = [];
    worker.abort();
    harness.work(staying, {
      handle: async ({ messageId }) => {
        others.push(messageId);
        return ack;
      },
    });
    await vi.waitFor(() => expect(new Set(others)).toEqual(new Set(['second cancel', 'second issue'])), bound);
    hold.open();
    await worker.ended;
    await vi.waitFor(async () => expect(await staying.depth()).toBe(0), bound);
    expect(begun).toBe(1);
  });

  describe('with live and test work', () => {
    it('keeps a place for live work while test work would take them all', async () => {
      const queue = await harness.open();
      const hold = gate();
      const begun: string[] = [];
      for (let index = 0; index < 20; index += 1) await queue.put(itemOf(`test ${index}`));
      harness.work(queue, {
        concurrency: 4,
        handle: async ({ stream }) => {
          begun.push(stream);
          if (stream !== streamNamed('live')) await hold.opened;
          return ack;
        },
      });
      await vi.waitFor(() => expect(begun).toHaveLength(3), bound);
      await queue.put(itemOf('live'));
      await vi.waitFor(() => expect(begun).toContain(streamNamed('live')), bound);
      expect(begun).toHaveLength(4);
      hold.open();
      await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    });
  });

  it('parks what was delivered too often, without handling it once more', async () => {
    const queue = await harness.open({ endless: { deliveries: 2, seconds: 0 }, clock: systemClock });
    let looks = 0;
    harness.work(queue, {
      handle: async () => {
        looks += 1;
        return { kind: 'retry', afterMs: 1 };
      },
    });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect((await queue.parked()).work).toHaveLength(1), bound);
    expect((await queue.parked()).work[0]?.reason).toBe('delivered 3 times without an end');
    expect(looks).toBe(2);
  });

  it('parks nothing that was delivered often within a short time, as a look-up that waits for a permit is', async () => {
    const queue = await harness.open({ endless: { deliveries: 2, seconds: 3_600 }, clock: systemClock });
    let looks = 0;
    harness.work(queue, {
      handle: async () => {
        looks += 1;
        return looks < 10 ? { kind: 'retry', afterMs: 1 } : ack;
      },
    });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(looks).toBe(10);
    expect((await queue.parked()).work).toEqual([]);
  });

  it('reports each work item that it parks once, and no fault', async () => {
    const queue = await harness.open();
    harness.work(queue, { concurrency: 8, handle: async () => ({ kind: 'park', reason: 'tried' }) });
    const items = Array.from({ length: 40 }, (_, index) => itemOf(`s${index}`));
    const streams = items.map(({ stream }) => stream);
    for (const item of items) await queue.put(item);
    await vi.waitFor(async () => expect((await queue.parked()).work).toHaveLength(streams.length), bound);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    await queue.close();
    const told = harness.notices.filter(({ kind }) => kind !== 'connected');
    expect(new Set(told)).toEqual(new Set(streams.map((stream) => ({ kind: 'parked', work: 'issue', stream }))));
    expect(told).toHaveLength(streams.length);
  });

  it('ends the record of parked work when newer work comes, also into a work stream that was made again', async () => {
    const first = await harness.open();
    // The parked message has a higher sequence than new work in the next stream.
    for (let n = 0; n < 5; n += 1) await first.put(itemOf(`s${n}`));
    await first.put(itemOf('parked', 'request 1', 'cancel'));
    const worker = harness.work(first, {
      handle: async ({ kind }) => (kind === 'cancel' ? { kind: 'park', reason: 'poison' } : ack),
    });
    await vi.waitFor(async () => expect(await first.depth()).toBe(0), bound);
    await vi.waitFor(async () => expect((await first.parked()).work).toHaveLength(1), bound);
    worker.abort();
    await worker.ended;
    await first.close();
    const connection = await connect({ servers: server.url });
    await (await connection.jetstreamManager()).streams.delete(harness.names.workStream);
    await connection.close();
    const second = await harness.open();
    await second.put(sweptItemOf('parked', '2026/1/30', 'cancel'));
    expect((await second.parked()).work).toHaveLength(1);
    await second.put(itemOf('parked', 'request 2', 'cancel'));
    expect((await second.parked()).work).toEqual([]);
    expect(await second.depth()).toBe(1);
  });

  it('leaves work parked when its message is put a second time, which the server ignores', async () => {
    const queue = await harness.open();
    harness.work(queue, { handle: async () => ({ kind: 'park', reason: 'poison' }) });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect((await queue.parked()).work).toHaveLength(1), bound);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    await queue.put(itemOf('a'));
    expect(await queue.depth()).toBe(0);
    expect((await queue.parked()).work).toMatchObject([{ ...itemOf('a'), reason: 'poison' }]);
  });

  it('keeps work parked that the sweeper of another process puts between its record and its end', async () => {
    const item = itemOf('a');
    /** A queue whose requests with this in their subject wait. */
    const openWaiting = (subject: string, wait: () => Promise<unknown> | undefined) =>
      harness.open({
        connect: async (options) => {
          const connection = await connect(options);
          const request = connection.request.bind(connection);
          connection.request = async (asked, ...rest) => {
            if (asked.includes(subject)) await wait();
            return await request(asked, ...rest);
          };
          return connection;
        },
      });
    const isPutting = gate();
    let swept: Promise<void> | undefined;
    let looks = 0;
    const queue = await openWaiting(`.STREAM.MSG.GET.${harness.names.workStream}`, () => swept);
    // The sweeper has found no record, and its work is stored once that of the parked item has ended.
    const other = await openWaiting(harness.names.work(item), async () => {
      isPutting.open();
      await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    });
    harness.work(queue, {
      handle: async () => {
        looks += 1;
        swept ??= other.put(sweptItemOf('a', '2026/1/30'));
        await isPutting.opened;
        return { kind: 'park', reason: 'poison' };
      },
    });
    await queue.put(item);
    await vi.waitFor(async () => expect((await queue.parked()).work).toMatchObject([item]), bound);
    await swept;
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect((await queue.parked()).work).toMatchObject([{ ...item, reason: 'poison' }]);
    expect(looks).toBe(1);
  });

  it('answers through the newest delivery of what it handles', async () => {
    const queue = await harness.open();
    const hold = gate();
    let looks = 0;
    harness.work(queue, {
      concurrency: 2,
      handle: async () => {
        looks += 1;
        await hold.opened;
        return ack;
      },
    });
    const spectator = await connect({ servers: new URL(server.url).host });
    onTestFinished(() => spectator.close());
    const answers: { text: string; delivery: number }[] = [];
    spectator.subscribe('$JS.ACK.>', {
      callback: (_error, message) => {
        const tokens = message.subject.split('.');
        const place = tokens.indexOf(harness.names.workStream);
        if (place === -1) return;
        answers.push({ text: message.string(), delivery: Number(tokens[place + 2]) });
        // The server takes this for the end of the first delivery, and sends the message a second time.
        if (answers.length === 1) spectator.publish(message.subject, '-NAK');
      },
    });
    const deliveriesWith = (wanted: string): readonly number[] =>
      answers.filter(({ text }) => text === wanted).map(({ delivery }) => delivery);
    await queue.put(itemOf('a'));
    await vi.waitFor(() => expect(Math.max(...deliveriesWith('+WPI'))).toBeGreaterThan(1), bound);
    hold.open();
    await vi.waitFor(() => expect(deliveriesWith('+ACK')).toHaveLength(1), bound);
    expect(deliveriesWith('+ACK')[0]).toBeGreaterThan(1);
    expect(looks).toBe(1);
  });

  it('removes a message that is no work item, and continues', async () => {
    const queue = await harness.open();
    const stranger = await connect({ servers: new URL(server.url).host });
    await stranger.jetstream().publish(harness.names.work(itemOf('x')), 'no work item');
    await stranger.close();
    const streams: string[] = [];
    harness.work(queue, {
      handle: async ({ stream }) => {
        streams.push(stream);
        return ack;
      },
    });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(streams).toEqual([streamNamed('a')]);
    expect(harness.notices).toContainEqual({ kind: 'unreadable', consumer: 'issue-live' });
  });

  it('does not count pauses against a limit: 1,500 of them do not stop new work', async () => {
    // With this many parallel puts the last one may wait for seconds.
    const queue = await harness.open({ answerMs: 30_000 });
    const handled = new Set<string>();
    const items = Array.from({ length: 1_500 }, (_, index) => itemOf(`s${index}`));
    await Promise.all(items.map((item) => queue.put(item)));
    harness.work(queue, {
      concurrency: 32,
      handle: async ({ stream }) => {
        handled.add(stream);
        return stream === streamNamed('new') ? ack : { kind: 'retry', afterMs: 600_000 };
      },
    });
    await vi.waitFor(() => expect(handled.size).toBe(1_500), bound);
    await queue.put(itemOf('new'));
    await vi.waitFor(() => expect(handled).toContain(streamNamed('new')), bound);
  });
});
