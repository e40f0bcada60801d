import { AckPolicy, type ConsumerUpdateConfig, type JetStreamManager, nanos, ReplayPolicy } from 'nats';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { streamNamed } from '../../support/fixture/named-streams.js';
import { bound, itemOf, openQueueHarness, type QueueHarness, sweptItemOf } from '../../support/harness/nats-queue.js';
import { type NatsServer, startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';

const CONSUMER = 'issue-live';
const REPLACED = { durable_name: CONSUMER, ack_policy: AckPolicy.Explicit } as const;

const HINDRANCES = ['deliver_subject', 'headers_only', 'max_batch', 'max_expires', 'max_bytes', 'backoff'];
/** Each look asks the server, and puts work that is still to come. */
const soon = { timeout: 60_000, interval: 200 };

type Place = { manager: JetStreamManager; stream: string; filter: string };

const update =
  (config: ConsumerUpdateConfig) =>
  ({ manager, stream }: Place): Promise<unknown> =>
    manager.consumers.update(stream, CONSUMER, config);

const replace =
  (config: object) =>
  async ({ manager, stream, filter }: Place): Promise<unknown> => {
    await manager.consumers.delete(stream, CONSUMER);
    return manager.consumers.add(stream, { ...REPLACED, filter_subject: filter, ...config });
  };

describeWith('natsServer', 'a consumer of ours that another program changed', () => {
  let server: NatsServer;
  let harness: QueueHarness;
  beforeEach(async () => {
    server = await startNats();
    harness = openQueueHarness(server.url);
  });
  afterEach(async () => {
    await harness.close();
    await server.close();
  });
  const place = async (): Promise<Place> => ({
    manager: await (await server.admin()).jetstreamManager(),
    stream: harness.names.workStream,
    filter: harness.names.consumers.find(({ name }) => name === CONSUMER)?.filter ?? '',
  });

  it.each<[string, (at: Place) => Promise<unknown>]>([
    ['pushes', replace({ deliver_subject: 'elsewhere' })],
    ['replays in the time of the original', replace({ replay_policy: ReplayPolicy.Original })],
    ['hands out less than a worker asks for', update({ max_batch: 1 })],
    ['lets no request wait for long', update({ max_expires: nanos(200) })],
    ['hands out few bytes', update({ max_bytes: 1 })],
    ['hands out messages without their work items', update({ headers_only: true })],
    ['gives up after some deliveries, each later than the last', update({ backoff: [nanos(100)], max_deliver: 2 })],
    ['gives up after one delivery', update({ max_deliver: 1 })],
  ])('is as it has to be after the next check, and no work is lost: one that %s', async (_what, tamper) => {
    const queue = await harness.open({ checkMs: 300, ackWaitMs: 1_000 });
    let isDone = false;
    const begun = new Set<string>();
    const handled = new Set<string>();
    harness.work(queue, {
      concurrency: 4,
      handle: async ({ stream }) => {
        begun.add(stream);
        if (!isDone) return { kind: 'retry', afterMs: 20 };
        handled.add(stream);
        return { kind: 'ack' };
      },
    });
    await queue.put(itemOf('before'));
    await vi.waitFor(() => expect(begun).toContain(streamNamed('before')), bound);
    const at = await place();
    await tamper(at);
    const asItHasToBe = async (): Promise<void> => {
      const { config } = await at.manager.consumers.info(at.stream, CONSUMER);
      expect(config).toMatchObject({ filter_subject: at.filter, max_deliver: -1, replay_policy: ReplayPolicy.Instant });
      for (const field of HINDRANCES) expect(config).not.toHaveProperty(field);
    };
    await vi.waitFor(asItHasToBe, soon);
    isDone = true;
    let sweep = 0;
    const areHandled = async (): Promise<void> => {
      sweep += 1;
      for (const name of ['before', 'after']) {
        if (!handled.has(streamNamed(name))) await queue.put(sweptItemOf(name, `sweep/${sweep}`));
      }
      expect(handled).toEqual(new Set(['after', 'before'].map(streamNamed)));
    };
    await vi.waitFor(areHandled, soon);
    await asItHasToBe();
    expect(queue.status()).toEqual({ ok: true });
  });

  it('delivers again what it gave up, after a process of an older version put its setting back', async () => {
    const queue = await harness.open({ checkMs: 60_000 });
    let begun = 0;
    const worker = harness.work(queue, {
      handle: async () => {
        begun += 1;
        return { kind: 'retry', afterMs: 50 };
      },
    });
    await queue.put(itemOf('a'));
    await vi.waitFor(() => expect(begun).toBeGreaterThan(1), bound);
    const at = await place();
    await at.manager.consumers.update(at.stream, CONSUMER, { max_deliver: 1 });
    const isGivenUp = async (): Promise<void> => {
      const { num_pending, num_ack_pending } = await at.manager.consumers.info(at.stream, CONSUMER);
      expect(num_pending + num_ack_pending).toBe(0);
    };
    await vi.waitFor(isGivenUp, soon);
    worker.abort();
    await worker.ended;
    await queue.close();
    await at.manager.consumers.update(at.stream, CONSUMER, { max_deliver: -1 });
    const next = await harness.open();
    const handled: string[] = [];
    harness.work(next, {
      handle: async ({ stream }) => {
        handled.push(stream);
        return { kind: 'ack' };
      },
    });
    await vi.waitFor(() => expect(handled).toEqual([streamNamed('a')]), soon);
    await vi.waitFor(async () => expect(await next.depth()).toBe(0), soon);
  });

  it('stays where a server has fields of its own, or another version made it with fewer', async () => {
    const queue = await harness.open();
    const at = await place();
    const made = (await at.manager.consumers.info(at.stream, CONSUMER)).created;
    await at.manager.consumers.update(at.stream, CONSUMER, { description: 'theirs', inactive_threshold: nanos(1e9) });
    await queue.close();
    await harness.open();
    expect(await at.manager.consumers.info(at.stream, CONSUMER)).toMatchObject({
      created: made,
      config: { description: 'theirs' },
    });
  });
});
