import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { invoices } from '../../../projections/invoices.js';
import type { EventStoreEventLog } from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import { anchorLog } from '../../../src/app/audit/anchor-log.js';
import { exportEvents } from '../../../src/app/audit/export-events.js';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { walkLog } from '../../../src/app/event-store/walk-log.js';
import { companyUsage } from '../../../src/app/operator/company-usage.js';
import { createLag } from '../../../src/app/read/lag.js';
import { readKnownWork } from '../../../src/app/recovery/known-work.js';
import { replayGuards } from '../../../src/app/recovery/replay-guards.js';
import { invoicePrefix } from '../../../src/domain/common/ids.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import { compareWithLog } from '../../../src/projector/drift.js';
import { runProjector } from '../../../src/projector/projector.js';
import { rebuildProjection } from '../../../src/projector/rebuild.js';
import { runRelay } from '../../../src/workers/relay.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import { acceptances, recordedGuards } from '../../support/fixture/recorded-guards.js';
import { type EventStoreHarness, fillWith, openEventStoreHarness } from '../../support/harness/eventstore-log.js';
import { emptyProjections, liveOf } from '../../support/harness/projector.js';
import { collectingQueue } from '../../support/harness/workers.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const prefixes = Object.values(invoicePrefix);
const COMPANY = '12345678000195';

const all = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
};

/** Other events between ours, so that the server must search; every search is dropped, and every third page is lost. */
describeWithPostgres('readers of the whole log in EventStoreDB whose server drops what is slow', () => {
  let database: FreshDatabase;
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  let log: EventStoreEventLog;
  let fixture: ReturnType<typeof acceptances>;
  let drops: number;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    harness = openEventStoreHarness();
    double = await harness.double();
    log = harness.open(double.url);
    fixture = acceptances(undefined, log);
    for (let n = 0; n < 6; n += 1) {
      fillWith(double, 150, `between-${n}`);
      await fixture.accept();
      if (n === 2) await emptyProjections(database.pool, log);
    }
    fillWith(double, 150, 'behind');
  });
  afterEach(async () => {
    delete double.faults.dropEvery;
    double.faults.onGoingLive = undefined;
    await harness.close();
  });

  const underDrops = async <T>(work: () => Promise<T>): Promise<T> => {
    drops = 0;
    double.faults.dropEvery = 3;
    double.faults.onGoingLive = () => {
      drops += 1;
      return 'drop';
    };
    try {
      return await work();
    } finally {
      delete double.faults.dropEvery;
      double.faults.onGoingLive = undefined;
      expect(drops).toBeGreaterThan(0);
    }
  };

  const reads: Readonly<Record<string, (from: EventLog) => Promise<unknown>>> = {
    'audit verify': async (from) => {
      const { findings, ...report } = await verifyLog(from);
      return { ...report, findings: findings.kept };
    },
    'the walk of audit and anchors': (from) => all(walkLog(from, prefixes)),
    'usage of a company': (from) => companyUsage(from, COMPANY, '2026-11'),
    'the work that reconciliation knows': async (from) => {
      // Two functions are never equal.
      const { metBy: _, ...known } = await readKnownWork(from, fixture.clock.now());
      return known;
    },
    'the lag of a projection': (from) => createLag(from, fixture.clock)(prefixes, null),
    'the guards': async (from) => {
      const session = await recordedGuards().open('log');
      const upTo = await from.head();
      if (upTo === null) throw new Error('an empty log');
      const windows = { idempotencySeconds: 86_400, duplicateSeconds: 60 };
      const positionBefore = async (): Promise<null> => null;
      return await all(replayGuards(null, upTo, { log: from, session, clock: fixture.clock, windows, positionBefore }));
    },
    'an export': (from) => all(exportEvents({}, { log: from }).lines()),
  };

  it.each(Object.keys(reads))('%s is the same as without drops', async (name) => {
    const read = reads[name];
    const calm = await read?.(log);
    expect(await underDrops(async () => read?.(harness.open(double.url)))).toEqual(calm);
  });

  it('an anchor covers the whole log', async () => {
    const { store, clock } = fixture;
    const anchor = await underDrops(() => anchorLog({ log, store, clock, actor: 'timer:anchorer' }));
    expect(anchor?.live).toMatchObject({ streams: 6, events: 6 });
  });

  it('a projection is rebuilt, swapped in and compared with the log', async () => {
    const { clock } = fixture;
    const db = database.pool;
    const stop = new AbortController();
    const rebuilt = await underDrops(() => rebuildProjection(invoices, stop.signal, { log, db, clock }));
    expect(rebuilt).toMatchObject({ kind: 'live', events: 6 });
    expect(await liveOf(db, invoices)).toMatchObject({ role: 'live' });
    const compared = await underDrops(() => compareWithLog(invoices, { db, log }));
    expect(compared).toMatchObject({ kind: 'compared', rows: 6, drifts: [] });
  });

  it('a projector and a relay catch up and go on', async () => {
    const db = database.pool;
    const stop = new AbortController();
    const queue = collectingQueue();
    const rows = async (): Promise<number> => (await db.query('select from read.invoices')).rowCount ?? 0;
    await underDrops(async () => {
      const running = [
        runProjector({
          log,
          db,
          clock: fixture.clock,
          projections: [invoices],
          signal: stop.signal,
          onHalt: ({ reason }) => expect.fail(reason),
        }),
        runRelay({
          log,
          queue,
          after: null,
          signal: stop.signal,
          onRelayed: async () => undefined,
          onInterrupted: () => undefined,
        }),
      ];
      await expect.poll(async () => [await rows(), queue.items.length]).toEqual([6, 6]);
      for (let n = 0; n < 3; n += 1) await fixture.accept();
      await expect.poll(async () => [await rows(), queue.items.length]).toEqual([9, 9]);
      stop.abort();
      await Promise.all(running);
    });
    expect(new Set(queue.items.map(({ stream }) => stream)).size).toBe(9);
  });
});
