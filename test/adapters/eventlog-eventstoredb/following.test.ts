import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SUBSCRIPTION_BATCH } from '../../../src/ports/event-log.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import { tooSlow } from '../../support/eventstore-double/faults.js';
import { at, chained, retried, streamOf } from '../../support/harness/event-log.js';
import { type EventStoreHarness, fillWith, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

describe('a subscription to the event log in EventStoreDB', () => {
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  beforeEach(async () => {
    harness = openEventStoreHarness();
    double = await harness.double();
  });
  afterEach(() => harness.close());

  it('continues behind the last event when the server restarts', async () => {
    const log = harness.open(double.url);
    const follower = harness.follow(log, 's-');
    for (let round = 0; round < 3; round += 1) {
      await streamOf(log, 1, `s-${round}`, retried);
      await expect.poll(follower.names).toHaveLength(round + 1);
      double.stop();
      await expect.poll(() => follower.errors.length).toBeGreaterThan(round);
      await double.start();
    }
    expect(follower.names()).toEqual(['s-0@0', 's-1@0', 's-2@0']);
  });

  it('starts again when it delivers nothing although events are waiting', async () => {
    const log = harness.open(double.url, { subscriptionCheckMs: 50 });
    const follower = harness.follow(log, 's-');
    await streamOf(log, 1, 's-1');
    await expect.poll(follower.names).toEqual(['s-1@0']);
    double.faults.muted = true;
    await streamOf(log, 1, 's-2');
    await streamOf(log, 1, 's-3');
    await expect.poll(follower.names).toEqual(['s-1@0', 's-2@0', 's-3@0']);
    expect(follower.errors.length).toBeGreaterThan(0);
  });

  it('is not interrupted when there is nothing to deliver', async () => {
    const log = harness.open(double.url, { subscriptionCheckMs: 500 });
    const quiet = harness.follow(log, 'quiet-');
    const busy = harness.follow(log, 's-');
    await streamOf(log, 40, 's-1');
    await expect.poll(busy.names).toHaveLength(40);
    // Each check of a silent subscription reads the log.
    double.faults.wholeLogReads = 0;
    await expect.poll(() => double.faults.wholeLogReads).toBeGreaterThanOrEqual(4);
    expect([...quiet.errors, ...busy.errors, ...quiet.events]).toEqual([]);
  });

  it('starts again when the server does not begin it, or drops it', async () => {
    const log = harness.open(double.url, { subscriptionCheckMs: 50, readTimeoutMs: 500 });
    await streamOf(log, 1, 's-1');
    for (const fault of [{ kind: 'silent' }, { kind: 'refuse', error: tooSlow('live') }] as const) {
      double.faults.subscriptions = fault;
      const follower = harness.follow(log, 's-');
      await expect.poll(() => follower.errors.length).toBeGreaterThan(0);
      delete double.faults.subscriptions;
      await expect.poll(follower.names).toEqual(['s-1@0']);
    }
  });

  it('hands out no more at once than agreed, and waits for its reader', async () => {
    const log = harness.open(double.url);
    const events = SUBSCRIPTION_BATCH * 3;
    for (let start = 0; start < events; start += 100) {
      const some = Array.from({ length: 100 }, (_, n) => chained('s-1', start + n));
      await log.append('s-1', start === 0 ? { kind: 'none' } : at(start - 1), some);
    }
    const stop = new AbortController();
    const sizes: number[] = [];
    for await (const batch of log.subscribe({ prefixes: ['s-'], after: null, signal: stop.signal })) {
      sizes.push(batch.length);
      await new Promise((resolve) => setImmediate(resolve));
      if (sizes.reduce((sum, size) => sum + size, 0) === events) stop.abort();
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(SUBSCRIPTION_BATCH);
  });

  it('skips nothing behind an event that has been scavenged meanwhile', async () => {
    const log = harness.open(double.url);
    await streamOf(log, 3, 's-cut');
    const place = (await log.read('s-cut'))[1]?.position ?? null;
    await streamOf(log, 2, 's-next');
    await log.append('s-cut', at(2), [chained('s-cut', 3)]);
    await log.cut('s-cut', 3);
    double.log.scavenge();
    const page = await log.readAll({ prefixes: ['s-'], after: place, limit: 10 });
    const expected = ['s-next@0', 's-next@1', 's-cut@3'];
    expect(page.map(({ stream, revision }) => `${stream}@${revision}`)).toEqual(expected);
    await expect.poll(harness.follow(log, 's-', place).names).toEqual(expected);
  });

  it('hides the rest of a cut stream whose beginning has been scavenged', async () => {
    const log = harness.open(double.url);
    await streamOf(log, 6, 's-cut');
    await streamOf(log, 2, 's-whole');
    const half = (await log.read('s-cut'))[2]?.position;
    await log.cut('s-cut', 5);
    const names = async () =>
      (await log.readAll({ prefixes: ['s-'], after: null, limit: 3 })).map((e) => `${e.stream}@${e.revision}`);
    expect(await names()).toEqual(['s-cut@0', 's-cut@1', 's-cut@2']);
    double.log.scavenge(half);
    const fresh = harness.open(double.url);
    const expected = ['s-cut@5', 's-whole@0', 's-whole@1'];
    expect((await fresh.readAll({ prefixes: ['s-'], after: null, limit: 1 })).map((e) => e.revision)).toEqual([5]);
    await expect.poll(harness.follow(fresh, 's-').names).toEqual(expected);
  });

  it('never hands out the position of a checkpoint', async () => {
    const log = harness.open(double.url, { subscriptionCheckMs: 30 });
    const follower = harness.follow(log, 's-');
    await streamOf(log, 1, 's-1');
    fillWith(double, 1_100);
    await streamOf(log, 1, 's-2');
    await expect.poll(follower.names).toEqual(['s-1@0', 's-2@0']);
    const own = double.log.all().filter(({ stream }) => stream.startsWith('s-'));
    expect(follower.events.map(({ position }) => position)).toEqual(own.map(({ position }) => position));
  });

  it('waits for a server that searches a long stretch without a match, as long as it reports its progress', async () => {
    const log = harness.open(double.url, { readTimeoutMs: 4_000 });
    fillWith(double, 600);
    await streamOf(log, 1, 's-1');
    const read = () => log.readAll({ prefixes: ['s-'], after: null, limit: 1 });
    double.faults.subscriptions = { kind: 'searching', checkpoints: 7, everyMs: 700 };
    expect(await read()).toHaveLength(1);
    double.faults.subscriptions = { kind: 'searching', checkpoints: 1, everyMs: 30_000 };
    await expect(read()).rejects.toMatchObject({ name: 'EventLogUnavailable' });
  });

  it('reports an invalid position and delivers nothing from another one', async () => {
    const log = harness.open(double.url);
    await streamOf(log, 2, 's-1');
    const place = ((await log.head()) ?? 0n) - 1n;
    const follower = harness.follow(log, 's-', place as never);
    await expect.poll(() => follower.errors.length).toBeGreaterThan(0);
    expect(follower.events).toEqual([]);
    expect(follower.errors[0]).toMatchObject({ cause: expect.objectContaining({ code: status.UNKNOWN }) });
  });
});
