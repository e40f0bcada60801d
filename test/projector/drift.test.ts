import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { compareWithLog } from '../../src/projector/drift.js';
import { emptyProjections } from '../support/harness/projector.js';
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
