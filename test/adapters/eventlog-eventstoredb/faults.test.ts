import { EventStoreDBClient } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventLogAccessDenied } from '../../../src/adapters/eventlog-eventstoredb/faults.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/ports/event-log.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import { accessDenied, notLeader, notReady, timedOut } from '../../support/eventstore-double/faults.js';
import { at, chained, freshStream, NONE, retried, streamOf } from '../../support/harness/event-log.js';
import { type EventStoreHarness, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

const HOST = '127.0.0.1';
describe('the event log in EventStoreDB when its server fails', () => {
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  beforeEach(async () => {
    harness = openEventStoreHarness();
    double = await harness.double();
  });
  afterEach(() => harness.close());

  const attempt = (log: ReturnType<EventStoreHarness['open']>, stream = freshStream()) =>
    log.append(stream, NONE, [chained(stream, 0)]).catch((error: unknown) => error);
  const stored = () => double.log.all().filter(({ stream }) => !stream.startsWith('$'));

  it('is certain that nothing was stored when no server listens, and works when one does', async () => {
    double.stop();
    const log = harness.open(double.url);
    expect(await attempt(log)).toBeInstanceOf(EventLogUnavailable);
    await expect(log.head()).rejects.toThrow(EventLogUnavailable);
    await double.start();
    await streamOf(log, 1, 'again', retried);
    expect(stored()).toHaveLength(1);
  });

  it('is certain that nothing was stored when the server is not ready', async () => {
    double.faults.appends = { kind: 'refuse', error: notReady() };
    expect(await attempt(harness.open(double.url))).toBeInstanceOf(EventLogUnavailable);
    expect(stored()).toEqual([]);
  });

  it('calls the outcome of an append unknown when the cluster gave it up or does not answer', async () => {
    const log = harness.open(double.url, { appendDeadlineMs: 2_000 });
    // An append that must connect first may time out before it is sent; its outcome is then certain.
    await log.head();
    double.faults.appends = { kind: 'refuse', error: timedOut() };
    expect(await attempt(log)).toBeInstanceOf(AppendOutcomeUnknown);
    double.faults.appends = { kind: 'silent' };
    expect(await attempt(log)).toBeInstanceOf(AppendOutcomeUnknown);
    double.faults.appends = { kind: 'silent_after_storing' };
    expect(await attempt(log)).toBeInstanceOf(AppendOutcomeUnknown);
    expect(stored()).toHaveLength(1);
    double.faults.appends = { kind: 'slow', ms: 20 };
    expect(await attempt(harness.open(double.url))).toEqual({ ok: true, revision: 0 });
  });

  it('calls the outcome of an append unknown when the connection is cut before the answer', async () => {
    const log = harness.open(double.url, { appendDeadlineMs: 5_000 });
    double.faults.appends = { kind: 'silent_after_storing' };
    const outcome = attempt(log);
    await expect.poll(stored).toHaveLength(1);
    double.stop();
    expect(await outcome).toBeInstanceOf(AppendOutcomeUnknown);
  });

  it('finds its own events behind what the server calls a conflict', async () => {
    const log = harness.open(double.url);
    const stream = await streamOf(log, 1);
    const events = [chained(stream, 1), chained(stream, 2)];
    await log.append(stream, at(0), events);
    double.faults.appends = { kind: 'conflict', current: 2n };
    expect(await log.append(stream, at(0), events)).toEqual({ ok: true, revision: 2 });
    const others = [chained(stream, 1), chained(stream, 2)];
    expect(await log.append(stream, at(0), others)).toEqual({ ok: false, actual: 2 });
    const mixed = [...events.slice(0, 1), ...others.slice(1)];
    expect(await log.append(stream, at(0), mixed)).toEqual({ ok: false, actual: 2 });
  });

  it('says who has no access, for appends, reads, cuts and the head', async () => {
    const log = harness.open(double.url);
    const stream = await streamOf(log, 2);
    double.faults.appends = { kind: 'refuse', error: accessDenied() };
    expect(await attempt(log)).toBeInstanceOf(EventLogAccessDenied);
    await expect(log.cut(stream, 1)).rejects.toThrow(EventLogAccessDenied);
    double.faults.reads = { kind: 'refuse', error: accessDenied() };
    await expect(log.read('any')).rejects.toThrow(EventLogAccessDenied);
    await expect(log.head()).rejects.toMatchObject({ code: 'access_denied' });
  });

  it('refuses an answer that breaks off', async () => {
    const log = harness.open(double.url);
    const stream = await streamOf(log, 5);
    double.faults.reads = { kind: 'drop', after: 2 };
    await expect(log.read(stream)).rejects.toThrow(EventLogUnavailable);
    delete double.faults.reads;
    expect(await retried(() => log.read(stream))).toHaveLength(5);
  });

  it('asks the leader when the node that it asked does not lead', async () => {
    const leader = await harness.double();
    double.faults.notLeading = notLeader(HOST, leader.port);
    expect(await attempt(harness.open(double.url))).toEqual({ ok: true, revision: 0 });
    expect(stored()).toEqual([]);
    expect(await harness.open(double.url).head()).not.toBeNull();
    const follower = harness.follow(harness.open(double.url), 'led-');
    await streamOf(harness.open(leader.url), 1, 'led-1');
    await expect.poll(follower.names).toEqual(['led-1@0']);
  });

  it('is certain that nothing was stored when no leader is found in time', async () => {
    double.faults.appends = { kind: 'refuse', error: notLeader(HOST, double.port) };
    expect(await attempt(harness.open(double.url, { appendDeadlineMs: 2_000 }))).toBeInstanceOf(EventLogUnavailable);
    expect(stored()).toEqual([]);
  });

  it('finds the leader by gossip, and the next one when it dies', async () => {
    const second = await harness.double({ log: double.log, cluster: () => [second.port] });
    const first = await harness.double({ log: double.log, cluster: () => [first.port, second.port] });
    const log = harness.open(`esdb://${HOST}:${first.port},${HOST}:${second.port}?tls=false&discoveryInterval=10`);
    const follower = harness.follow(log, 'led-');
    await streamOf(log, 1, 'led-1', retried);
    await expect.poll(follower.names).toEqual(['led-1@0']);
    expect(first.gossipReads() + second.gossipReads()).toBeGreaterThan(0);
    first.stop();
    await streamOf(log, 1, 'led-2', retried);
    await expect.poll(follower.names).toEqual(['led-1@0', 'led-2@0']);
  });

  it('survives a cluster of which no node is found, with many calls under way', async () => {
    const other = await harness.double({ log: double.log, cluster: () => [double.port, other.port] });
    const hosts = `${HOST}:${double.port},${HOST}:${other.port}`;
    const settings = 'tls=false&discoveryInterval=5&maxDiscoverAttempts=3';
    const log = harness.open(`esdb://${hosts}?${settings}`);
    await streamOf(log, 1);
    double.stop();
    other.stop();
    for (let round = 0; round < 5; round += 1) {
      const calls = [() => log.append('x', NONE, [chained('x', 0)]), () => log.read('x'), () => log.head()];
      const outcomes = await Promise.allSettled(calls.flatMap((call) => [call(), call(), call(), call()]));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    }
    await Promise.all([double.start(), other.start()]);
    await streamOf(log, 1, 'y', retried);
  });

  it('refuses when it is closed, and waits for the append under way', async () => {
    const log = harness.open(double.url);
    // Longer than the second for which the client waits for its calls.
    double.faults.appends = { kind: 'slow', ms: 1_500 };
    let isAnswered = false;
    const outcome = attempt(log).finally(() => {
      isAnswered = true;
    });
    await log.close();
    expect(isAnswered).toBe(true);
    expect(await outcome).toEqual({ ok: true, revision: 0 });
    expect(await attempt(log)).toBeInstanceOf(EventLogUnavailable);
    await expect(log.head()).rejects.toThrow(EventLogUnavailable);
  });

  it('has one identity, however many ask for it first and at once', async () => {
    double.faults.appends = { kind: 'slow', ms: 100 };
    const given = await Promise.all([1, 2, 3].map(() => harness.open(double.url).identity()));
    expect(new Set(given).size).toBe(1);
    expect(double.log.all().filter(({ stream }) => stream === 'log-identity')).toHaveLength(1);
  });

  it('has another identity when its database was wiped', async () => {
    const before = await harness.open(double.url).identity();
    expect(await harness.open(double.url).identity()).toBe(before);
    const wiped = await harness.double();
    expect(await harness.open(wiped.url).identity()).not.toBe(before);
  });

  it('has no head before its first event, and the same one behind whatever the server writes', async () => {
    const log = harness.open(double.url);
    await log.identity();
    expect(await log.head()).toBeNull();
    const stream = await streamOf(log, 3);
    const head = await log.head();
    expect(head).toBe((await log.read(stream)).at(-1)?.position);
    const client = EventStoreDBClient.connectionString(double.url);
    for (let n = 0; n < 200; n += 1) await client.setStreamMetadata(`other-${n}`, { truncateBefore: 1 });
    await client.dispose();
    for (const each of [log, log, harness.open(double.url)]) expect(await each.head()).toBe(head);
    await streamOf(log, 1, 'next');
    expect(await log.head()).toBe((await log.read('next'))[0]?.position);
  });
});
