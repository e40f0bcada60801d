import { readFileSync } from 'node:fs';
import { AckPolicy } from 'nats';
import { expect, it, vi } from 'vitest';
import { streamNamed } from '../../support/fixture/named-streams.js';
import { bound, itemOf, natsForEachTest, type QueueHarness } from '../../support/harness/nats-queue.js';
import type { NatsServer } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';

const documentation = new URL('../../../docs/operations/configuration.md', import.meta.url);
const ack = { kind: 'ack' } as const;
const CONSUMER = 'issue-live';
const identity = { user: 'nfse', password: 'secret' };

describeWith('natsServer', 'what keeps work away while NATS answers', () => {
  let server: NatsServer;
  let harness: QueueHarness;
  const beginAnew = natsForEachTest((begun) => {
    ({ server, harness } = begun);
  });
  const manager = async () => (await server.admin()).jetstreamManager();

  it('is told with what to do about a consumer of another program that takes our messages', async () => {
    const queue = await harness.open({ checkMs: 300 });
    const { workStream, consumers: ours } = harness.names;
    const filter = ours.find(({ name }) => name === CONSUMER)?.filter ?? '';
    const { consumers } = await manager();
    await consumers.delete(workStream, CONSUMER);
    await consumers.add(workStream, { durable_name: 'theirs', filter_subject: filter, ack_policy: AckPolicy.Explicit });
    const what = `NATS refuses the consumer ${CONSUMER} that the work queue needs (JetStream 10100)`;
    await vi.waitFor(() => expect(queue.status()).toEqual({ ok: false, reason: what, isPartial: true }), bound);
    const told = { kind: 'topology_failed', code: 'NatsTopologyMismatch', what };
    await vi.waitFor(() => expect(harness.notices).toContainEqual(told), bound);
    await expect(harness.open()).rejects.toMatchObject({
      what,
      cure: `delete the other consumer of ${workStream} that takes the same messages (nats consumer ls ${workStream} names it)`,
    });
    const handled: string[] = [];
    harness.work(queue, {
      handle: async ({ stream }) => {
        handled.push(stream);
        return ack;
      },
    });
    await queue.put(itemOf('a'));
    expect(queue.status()).toMatchObject({ isPartial: true });
    await consumers.delete(workStream, 'theirs');
    await vi.waitFor(() => expect(handled).toEqual([streamNamed('a')]), bound);
    expect(queue.status()).toEqual({ ok: true });
  });

  it.each([
    ['answer', '$JS.ACK.>', /^not permitted: publish \$JS\.ACK\.\w+-work\.>$/],
    ['ask', '$JS.API.CONSUMER.MSG.NEXT.>', /^not permitted: publish \$JS\.API\.CONSUMER\.MSG\.NEXT\.\w+-work\.\w/],
  ])('is told where this user may not %s', async (_what, subject, reason) => {
    await beginAnew({ identity, permissions: `permissions: { publish: { deny: ["${subject}"] } }` });
    const queue = await harness.open();
    harness.work(queue, { handle: async () => ack });
    await queue.put(itemOf('a'));
    await vi.waitFor(
      () => expect(queue.status()).toEqual({ ok: false, reason: expect.stringMatching(reason), isPartial: true }),
      bound,
    );
    expect(harness.notices).toContainEqual({ kind: 'not_permitted', what: expect.any(String) });
    const command = await harness.open();
    expect(await command.missingRight()).toMatch(reason);
  });

  it('is nothing for a user with the rights that the documentation lists', async () => {
    const documented = readFileSync(documentation, 'utf8').match(/^permissions: \{\n[\s\S]+?^\}/m)?.[0];
    await beginAnew({ identity, permissions: documented ?? 'none' });
    const queue = await harness.open({ prefix: 'nfse', checkMs: 300 });
    let isParking = true;
    harness.work(queue, {
      handle: async () => {
        if (isParking) return { kind: 'park', reason: 'poison' };
        return ack;
      },
    });
    await queue.put(itemOf('a'));
    await vi.waitFor(async () => expect((await queue.parked()).count).toBe(1), bound);
    await (await manager()).consumers.delete('nfse-work', CONSUMER);
    isParking = false;
    await vi.waitFor(async () => expect(await queue.retryParked(streamNamed('a'))).toBe(true), bound);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(await queue.missingRight()).toBeUndefined();
    const faults = ['not_permitted', 'topology_failed', 'verdict_lost'];
    expect(harness.notices.filter(({ kind }) => faults.includes(kind))).toEqual([]);
    expect(queue.status()).toEqual({ ok: true });
  });

  it('is found by a question that takes no work', async () => {
    const queue = await harness.open();
    await queue.put(itemOf('a'));
    expect(await queue.missingRight()).toBeUndefined();
    const { num_ack_pending, num_pending } = await (await manager()).consumers.info(harness.names.workStream, CONSUMER);
    expect({ num_ack_pending, num_pending }).toEqual({ num_ack_pending: 0, num_pending: 1 });
  });

  it('is told, and mended before the next check, where a consumer refuses each request', async () => {
    const queue = await harness.open({ checkMs: 600_000 });
    const { consumers } = await manager();
    await consumers.update(harness.names.workStream, CONSUMER, { max_batch: 1 });
    const handled: string[] = [];
    harness.work(queue, {
      concurrency: 4,
      handle: async ({ stream }) => {
        handled.push(stream);
        return ack;
      },
    });
    await queue.put(itemOf('a'));
    await vi.waitFor(() => expect(handled).toEqual([streamNamed('a')]), bound);
    expect(harness.notices).toContainEqual({ kind: 'requests_refused', consumer: CONSUMER });
    await vi.waitFor(() => expect(queue.status()).toEqual({ ok: true }), bound);
  });

  it('is told once of many messages that are not ours', async () => {
    const queue = await harness.open();
    harness.work(queue, { concurrency: 8, handle: async () => ack });
    const js = (await server.admin()).jetstream();
    for (let index = 0; index < 200; index += 1) await js.publish(harness.names.work(itemOf(`s${index}`)), 'garbage');
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), bound);
    expect(harness.notices.filter(({ kind }) => kind === 'unreadable')).toEqual([
      { kind: 'unreadable', consumer: CONSUMER },
    ]);
  });
});
