import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventStoreEventLog } from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import {
  AppendOutcomeUnknown,
  type EventBatch,
  EventLogUnavailable,
  EventTooLarge,
  type LogPosition,
} from '../../../src/ports/event-log.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import * as refusals from '../../support/eventstore-double/faults.js';
import { at, chained, NONE, streamOf } from '../../support/harness/event-log.js';
import { type EventStoreHarness, fillWith, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

/** This number of subscriptions goes live while more events arrive than the server buffers for each. */
const crowd = (double: EventStoreDouble, times: number): { drops(): number } => {
  let drops = 0;
  double.faults.onGoingLive = () => {
    if (drops === times) return undefined;
    drops += 1;
    fillWith(double, 40, `s-crowd${drops}`);
    return undefined;
  };
  return { drops: () => drops };
};

/** The events of this test in the log of the double. */
const stored = (double: EventStoreDouble): readonly string[] =>
  double.log.all().flatMap(({ stream, revision }) => (stream.startsWith('s-') ? [`${stream}@${revision}`] : []));

const walk = async (log: EventStoreEventLog, limit: number): Promise<readonly string[]> => {
  const seen: string[] = [];
  for (let after: LogPosition | null = null; ; ) {
    const page: EventBatch = await log.readAll({ prefixes: ['s-'], after, limit });
    if (page.length === 0) return seen;
    seen.push(...page.map(({ stream, revision }) => `${stream}@${revision}`));
    after = page.at(-1)?.position ?? null;
  }
};

describe('the event log in EventStoreDB whose server drops what is slow', () => {
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  let log: EventStoreEventLog;
  beforeEach(async () => {
    harness = openEventStoreHarness();
    double = await harness.double();
    log = harness.open(double.url);
  });
  afterEach(() => harness.close());

  it('continues behind the last event when a search is dropped, however rare the events are', async () => {
    for (let n = 0; n < 4; n += 1) {
      fillWith(double, 700, `between-${n}`);
      await streamOf(log, 2, `s-${n}`);
    }
    for (const limit of [1, 3, 100]) {
      fillWith(double, 700, `behind-${limit}`);
      const { drops } = crowd(double, 2);
      expect(await walk(log, limit)).toEqual(stored(double));
      expect(drops()).toBeGreaterThan(0);
    }
  });

  it('reads a dense log without a subscription that could be dropped', async () => {
    await streamOf(log, 5, 's-1');
    const { drops } = crowd(double, 1);
    expect(await walk(log, 2)).toHaveLength(5);
    expect(drops()).toBe(0);
  });

  it('reads a lost page again, and fails when every try is lost', async () => {
    for (let n = 0; n < 3; n += 1) await streamOf(log, 3, `s-${n}`);
    double.faults.dropEvery = 2;
    expect(await walk(log, 2)).toHaveLength(9);
    expect(await log.head()).not.toBeNull();
    double.faults.dropEvery = 1;
    double.faults.wholeLogReads = 0;
    await expect(walk(log, 2)).rejects.toThrow(EventLogUnavailable);
    expect(double.faults.wholeLogReads).toBe(5);
  });

  it('follows through bursts and drops, without a lost, repeated or reordered event', async () => {
    await streamOf(log, 3, 's-before');
    const { drops } = crowd(double, 3);
    const follower = harness.follow(log, 's-');
    await expect.poll(() => [drops(), follower.errors.length]).toEqual([3, 3]);
    for (let round = 0; round < 5; round += 1) {
      const events = Array.from({ length: 60 }, (_, n) => chained('s-burst', round * 60 + n));
      await log.append('s-burst', round === 0 ? NONE : at(round * 60 - 1), events);
    }
    await expect.poll(follower.names).toHaveLength(3 + 3 * 40 + 5 * 60);
    expect(follower.names()).toEqual(stored(double));
    const { type, message } = (follower.errors[0] as Error).cause as Error & { type: string };
    expect([type, message]).toEqual(['timeout', expect.stringContaining('while transitioning to live')]);
  });

  it('receives events while their reader is busy, and ends the subscription itself when its buffer is full', async () => {
    /** More than an inbox holds. */
    const LAST = 1_602;
    const stop = new AbortController();
    const errors: unknown[] = [];
    const onInterrupted = (error: unknown): void => void errors.push(error);
    const revisions: number[] = [];
    let goOn = (): void => undefined;
    const busy = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await streamOf(log, 1, 's-1');
    const running = (async () => {
      for await (const batch of log.subscribe({ prefixes: ['s-'], after: null, signal: stop.signal, onInterrupted })) {
        revisions.push(...batch.map(({ revision }) => revision));
        if (revisions.length === 2) await busy;
      }
    })();
    await expect.poll(() => revisions.length).toBe(1);
    await log.append('s-1', at(0), [chained('s-1', 1)]);
    await expect.poll(() => revisions.length).toBe(2);
    for (let next = 2; next < LAST; next += 20) {
      const events = Array.from({ length: 20 }, (_, n) => chained('s-1', next + n));
      await log.append('s-1', at(next - 1), events);
    }
    await expect.poll(() => double.openSubscriptions()).toBe(0);
    goOn();
    await expect.poll(() => revisions.length).toBe(LAST);
    expect(revisions).toEqual(Array.from({ length: LAST }, (_, n) => n));
    expect(errors).toEqual([]);
    stop.abort();
    await running;
  });
});

const refused = (code: status): ServiceError =>
  Object.assign(new Error('a text of the server'), { code, details: 'a text of the server', metadata: new Metadata() });

/** One error of each kind that the client has a class for, and all errors that have only a code. */
const errors: readonly ServiceError[] = [
  refusals.notReady(),
  refusals.timedOut(),
  refusals.tooSlow('live'),
  refusals.tooSlow('transitioning to live'),
  refusals.accessDenied(),
  refusals.unauthenticated(),
  refusals.streamDeleted('s-1'),
  refusals.appendTooLarge(1),
  ...Object.values(status).flatMap((code) => (typeof code === 'number' && code > 0 ? [refused(code)] : [])),
];

describe('what leaves the event log in EventStoreDB', () => {
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  beforeEach(async () => {
    harness = openEventStoreHarness();
    double = await harness.double();
  });
  afterEach(() => harness.close());

  it.each(errors.map((error) => [error.code, error.details, error] as const))(
    'is an error of the port when the server answers %i %s',
    async (_code, _details, error) => {
      await streamOf(harness.open(double.url), 2, 's-1');
      const log = harness.open(double.url, { appendDeadlineMs: 500, readTimeoutMs: 500, subscriptionCheckMs: 100 });
      fillWith(double, 600);
      const fault = { kind: 'refuse', error } as const;
      const follow = async (): Promise<never> => {
        const stop = new AbortController();
        const interruption = new Promise<unknown>((resolve) => {
          void (async () => {
            const batches = log.subscribe({
              prefixes: ['rare-'],
              after: null,
              signal: stop.signal,
              onInterrupted: resolve,
            });
            for await (const _batch of batches);
          })();
        });
        const what = await interruption;
        stop.abort();
        throw what;
      };
      const search = (): Promise<unknown> => log.readAll({ prefixes: ['rare-'], after: null, limit: 1 });
      const page = (): Promise<unknown> => log.readAll({ prefixes: ['s-'], after: null, limit: 1 });
      const reads: Readonly<Record<string, () => Promise<unknown>>> = {
        read: () => log.read('s-1'),
        lastEvent: () => log.lastEvent('s-1'),
        readAll: page,
        readLast: () => log.readLast({ prefixes: ['s-'], limit: 1 }),
        head: () => log.head(),
        identity: () => log.identity(),
        cut: () => log.cut('s-1', 1),
        subscribe: follow,
      };
      double.faults.reads = fault;
      for (const [name, call] of Object.entries(reads)) {
        const outcome = await call().catch((thrown: unknown) => thrown);
        expect([name, outcome]).toEqual([name, expect.any(EventLogUnavailable)]);
      }
      delete double.faults.reads;
      double.faults.subscriptions = fault;
      await expect(follow()).rejects.toThrow(EventLogUnavailable);
      const searched = await search().catch((thrown: unknown) => thrown);
      if (Array.isArray(searched)) expect(searched).toEqual([]);
      else expect(searched).toBeInstanceOf(EventLogUnavailable);
      delete double.faults.subscriptions;
      double.faults.appends = fault;
      const appended = await log.append('s-2', NONE, [chained('s-2', 0)]).catch((thrown: unknown) => thrown);
      expect([EventLogUnavailable, AppendOutcomeUnknown, EventTooLarge].some((kind) => appended instanceof kind)).toBe(
        true,
      );
    },
  );
});
