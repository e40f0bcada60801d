import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { deadlines } from '../../projections/deadlines.js';
import { invoices } from '../../projections/invoices.js';
import type { Revision } from '../../src/ports/event-log.js';
import { liveGeneration } from '../../src/projector/checkpoints.js';
import { compareWithLog } from '../../src/projector/drift.js';
import { tableOf } from '../../src/projector/generation-tables.js';
import { eventually } from '../support/eventually.js';
import { accepted, attempted, deleted, streamOf } from '../support/fixture/histories.js';
import { projecting } from '../support/harness/projecting.js';
import { appendFromTheFuture, emptyProjections } from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

describeWithPostgres('a comparison of rows with the log', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  it('does not turn away the next one, however slowly its connection goes', async () => {
    const log = memoryEventLog();
    await emptyProjections(database.pool, log);
    const { db, lingering, end } = slowToClose(database.pool);
    try {
      expect(await compareWithLog(invoices, { db, log })).toMatchObject({ kind: 'compared', drifts: [] });
      expect(await compareWithLog(invoices, { db, log })).toMatchObject({ kind: 'compared', drifts: [] });
      expect(lingering()).toBe(2);
    } finally {
      end();
    }
  });
});

describeWithPostgres('a comparison of rows that a stopped projector has left behind the log', () => {
  const harness = projecting();
  const compared = () => compareWithLog(deadlines, { db: harness.pool, log: harness.log });

  const vanish = async (n: number): Promise<void> => {
    await harness.append(streamOf('test', n), [deleted]);
    await harness.log.cut(streamOf('test', n), 2 as Revision);
  };

  beforeEach(async () => {
    for (const n of [1, 2]) await harness.append(streamOf('test', n), [accepted('test', n), attempted(1, 5)]);
    harness.start([deadlines]);
    await eventually(() => harness.caughtUp([deadlines]));
    await harness.end();
  });

  it('finds nothing in the row of a test invoice that has vanished since', async () => {
    await vanish(1);
    const outcome = await compared();
    expect(outcome).toEqual({ kind: 'compared', rows: 2, drifts: [] });
  });

  it('finds a row that no event made, and one that is further than the end of its test invoice', async () => {
    await vanish(1);
    const table = tableOf(await liveGeneration(harness.pool, 'deadlines'));
    await harness.pool.query(`update ${table} set revision = 9 where stream = $1`, [streamOf('test', 1)]);
    await harness.pool.query(`update ${table} set stream = $2 where stream = $1`, [
      streamOf('test', 2),
      streamOf('test', 3),
    ]);
    const outcome = await compared();
    expect(outcome).toMatchObject({
      drifts: [
        { row: streamOf('test', 2), what: 'the row is missing' },
        { row: streamOf('test', 1), what: 'the log knows of no such row' },
        { row: streamOf('test', 3), what: 'the log knows of no such row' },
      ],
    });
  });

  it('compares nothing when an event behind the rows cannot be applied, which may explain the difference', async () => {
    await appendFromTheFuture(harness.log, streamOf('live', 4), 'InvoiceAccepted');
    await vanish(1);
    const outcome = await compared();
    expect(outcome).toEqual({
      kind: 'not_comparable',
      reason: `InvoiceAccepted (${streamOf('live', 4)}@0) cannot be applied`,
    });
  });
});

describeWithPostgres('a comparison of rows that no checkpoint names', () => {
  const harness = projecting();
  const compared = () => compareWithLog(invoices, { db: harness.pool, log: harness.log });

  it.each([
    ['was removed', 'delete from checkpoints', /^no checkpoint says which rows are live/],
    [
      'says that they are the previous rows',
      `update checkpoints set role = 'previous'`,
      /^no checkpoint says which rows are live/,
    ],
    [
      'names another log',
      `update checkpoints set log_identity = 'other'`,
      /^its rows were made from log other, but the log is /,
    ],
  ])('compares nothing and leaves them when the checkpoint %s', async (_what, edit, reason) => {
    await harness.append(streamOf('live', 1), [accepted('live', 1)]);
    harness.start([invoices]);
    await eventually(() => harness.caughtUp([invoices]));
    await harness.end();
    const table = tableOf(await liveGeneration(harness.pool, 'invoices'));
    await harness.pool.query(`${edit} where name = 'invoices'`);
    expect(await compared()).toEqual({ kind: 'not_comparable', reason: expect.stringMatching(reason) });
    expect((await harness.pool.query(`select from ${table}`)).rowCount).toBe(1);
  });
});

describeWithPostgres('a comparison of rows whose checkpoint was set back', () => {
  const harness = projecting();
  const compared = () => compareWithLog(invoices, { db: harness.pool, log: harness.log });
  const change = async (text: string, ...values: readonly unknown[]): Promise<void> => {
    const table = tableOf(await liveGeneration(harness.pool, 'invoices'));
    await harness.pool.query(text.replace('rows', table), [...values]);
  };
  const setBack = () => change(`update checkpoints set position = null where name = 'invoices'`);

  const caughtUp = async (): Promise<void> => {
    harness.start([invoices]);
    await eventually(() => harness.caughtUp([invoices]));
    await harness.end();
  };

  it('finds nothing in rows that are what the log made of them', async () => {
    for (const n of [1, 2]) await harness.append(streamOf('live', n), [accepted('live', n), attempted(1, 5)]);
    await harness.append(streamOf('test', 3), [accepted('test', 3)]);
    await caughtUp();
    await harness.append(streamOf('test', 3), [deleted]);
    await harness.log.cut(streamOf('test', 3), 1 as Revision);
    await setBack();
    expect(await compared()).toEqual({ kind: 'compared', rows: 3, drifts: [] });
  });

  it.each([0, 1])('finds a tampered row that says revision %i', async (revision) => {
    const [one = '', other = ''] = [streamOf('live', 1), streamOf('live', 2)];
    for (const stream of [one, other]) {
      const n = stream === one ? 1 : 2;
      await harness.append(stream, [accepted('live', n), attempted(1, 5)]);
    }
    await caughtUp();
    await change('update rows set amount_in_cents = 1, revision = $2 where stream = $1', one, revision);
    await setBack();
    const what = revision === 0 ? expect.stringContaining('amount_in_cents') : 'amount_in_cents differs';
    expect(await compared()).toMatchObject({ drifts: [{ row: one, what }] });
  });

  it('finds a tampered row behind more than a thousand rows that are only ahead', async () => {
    const last = 1_005;
    for (let n = 1; n <= last; n += 1) await harness.append(streamOf('live', n), [accepted('live', n)]);
    await caughtUp();
    await change('update rows set amount_in_cents = 1 where stream = $1', streamOf('live', last));
    await setBack();
    expect(await compared()).toEqual({
      kind: 'compared',
      rows: last,
      drifts: [{ projection: 'invoices', row: streamOf('live', last), what: 'amount_in_cents differs' }],
    });
  });
});

/** The same pool, whose connections stay open after they were to be closed. */
const slowToClose = (pool: pg.Pool) => {
  const waiting: (() => void)[] = [];
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    const release = client.release;
    client.release = (destroy) => {
      if (destroy === true) waiting.push(() => release(true));
      else release(destroy);
    };
    return client;
  };
  const query = pool.query.bind(pool);
  return {
    db: { query, connect } as unknown as pg.Pool,
    lingering: () => waiting.length,
    end: () => {
      for (const close of waiting) close();
    },
  };
};

describeWithPostgres('a comparison of rows that were changed behind the projector', () => {
  const harness = projecting();

  it('finds a personal field in clear where the log has it sealed', async () => {
    const stream = streamOf('live', 1);
    await harness.append(stream, [accepted('live', 1)]);
    harness.start([invoices]);
    await eventually(() => harness.caughtUp([invoices]));
    await harness.end();
    const compared = () => compareWithLog(invoices, { db: harness.pool, log: harness.log });
    expect(await compared()).toMatchObject({ rows: 1, drifts: [] });
    const table = tableOf(await liveGeneration(harness.pool, 'invoices'));
    const { rows } = await harness.pool.query<{ state: string }>(`select state from ${table}`);
    const state = JSON.parse(rows[0]?.state ?? '');
    expect(state.facts.customer).toMatch(/^sealed:1:/);
    state.facts.customer = { type: 'br', document: '11111111000191', name: 'CLIENTE LTDA' };
    await harness.pool.query(`update ${table} set state = $1`, [JSON.stringify(state)]);
    expect(await compared()).toMatchObject({ drifts: [{ row: stream }] });
  });
});
