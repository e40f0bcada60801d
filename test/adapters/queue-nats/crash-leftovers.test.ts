import { connect, type JetStreamManager, type NatsConnection } from 'nats';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { clearCrashLeftovers } from '../../../src/adapters/queue-nats/nats-queue.js';
import { streamNamed } from '../../support/fixture/named-streams.js';
import { bound, itemOf, openQueueHarness, type QueueHarness } from '../../support/harness/nats-queue.js';
import { type NatsServer, startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';

describeWith('natsServer', 'what a crashed NATS server left behind', () => {
  let server: NatsServer;
  let harness: QueueHarness;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  beforeEach(async () => {
    server = await startNats();
    await server.start();
    harness = openQueueHarness(server.url);
    connection = await connect({ servers: server.url });
    manager = await connection.jetstreamManager();
  });
  afterEach(async () => {
    await connection.close();
    await harness.close();
    await server.close();
  });

  /** The server's answer about each consumer, except one, which is reported as acknowledged up to this sequence. */
  const afterCrash = (consumer: string, answeredUpTo: number): JetStreamManager => ({
    getAccountInfo: manager.getAccountInfo,
    advisories: manager.advisories,
    jetstream: manager.jetstream,
    getOptions: manager.getOptions,
    streams: manager.streams,
    consumers: Object.assign(Object.create(manager.consumers), {
      info: async (stream: string, name: string) => {
        const info = await manager.consumers.info(stream, name);
        return name === consumer ? { ...info, ack_floor: { consumer_seq: 9, stream_seq: answeredUpTo } } : info;
      },
    }),
  });

  it('is removed where a consumer had answered it, and everything else is delivered', async () => {
    const queue = await harness.open();
    const names = ['a', 'b', 'c', 'd'];
    const nameOf = (stream: string): string => names.find((name) => streamNamed(name) === stream) ?? stream;
    for (const stream of names) {
      await queue.put(itemOf(stream));
      await queue.put(itemOf(stream, `cancel ${stream}`, 'cancel'));
    }
    expect(await clearCrashLeftovers(afterCrash('issue-live', 5), harness.names)).toBe(false);
    const seen: string[] = [];
    harness.work(queue, {
      handle: async ({ kind, stream }) => {
        seen.push(`${kind} ${nameOf(stream)}`);
        return { kind: 'ack' };
      },
    });
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(seen.sort()).toEqual(['cancel a', 'cancel b', 'cancel c', 'cancel d', 'issue d']);
  });

  it('takes a consumer with it that is ahead of its stream', async () => {
    await harness.open();
    expect(await clearCrashLeftovers(afterCrash('cancel-test', 7), harness.names)).toBe(true);
    const left = await manager.consumers.list(harness.names.workStream).next();
    expect(left.map(({ name }) => name).sort()).toEqual(['cancel-live', 'issue-live', 'issue-test']);
  });
});
