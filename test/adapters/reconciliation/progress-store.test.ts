import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoices } from '../../../projections/invoices.js';
import { createReconciliationProgressStore } from '../../../src/adapters/reconciliation/progress-store.js';
import type { ReconciliationProgress, ReconciliationProgressStore } from '../../../src/ports/reconciliation.js';
import { prepareProjections } from '../../../src/projector/projector.js';
import { T0 } from '../../support/fixture/invoice.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const stream = (mode: 'Live' | 'Test', n: number) =>
  `nfse${mode}-12345678000195_00000000-0000-4000-8000-00000000000${n}`;

type Row = {
  stream: string;
  createdAt: string | null;
  accessKey: string | null;
  cancellation?: 'succeeded' | 'failed';
};

/** Rows of the read model as its projection would have left them, without the events. */
const rowsOfInvoices = async (pool: pg.Pool, rows: readonly Row[]): Promise<void> => {
  await prepareProjections(pool, memoryEventLog(), { now: () => T0 }, [invoices]);
  for (const { stream, createdAt, accessKey, cancellation } of rows) {
    const state = JSON.stringify(cancellation === undefined ? {} : { cancellation: { status: cancellation } });
    await pool.query(
      `insert into read.invoices (stream, revision, mode, company_id, invoice_id, access_key, created_at, state)
       values ($1, 0, $2, '12345678000195', $1, $3, $4, $5)`,
      [stream, stream.startsWith('nfseLive') ? 'live' : 'test', accessKey, createdAt, state],
    );
  }
};

describeWithPostgres('the cursor of the reconciliation in the database', () => {
  let database: FreshDatabase;
  let progressStore: ReconciliationProgressStore;
  beforeAll(async () => {
    database = await freshDatabase();
    progressStore = createReconciliationProgressStore(database.pool);
  });
  afterAll(() => database.close());

  it('keeps its place per mode', async () => {
    const firstAbsences = [{ stream: stream('Live', 2), askedAt: T0, questions: ['cancellation'] }];
    const cursor: ReconciliationProgress = {
      round: 3,
      startedAt: T0,
      after: stream('Live', 1),
      firstAbsences,
      tries: 1,
    };
    expect(await progressStore.read('live')).toBeUndefined();
    await progressStore.save('live', { ...cursor, round: 2 });
    await progressStore.save('live', cursor);
    expect(await progressStore.read('live')).toEqual(cursor);
    expect(await progressStore.read('test')).toBeUndefined();
  });

  it('is stored under the names that earlier programs wrote', async () => {
    const { rows } = await database.pool.query<{ walk: string }>(
      "select walk from reconciliation_walks where mode = 'live'",
    );
    expect(JSON.parse(rows[0]?.walk ?? '')).toEqual({
      round: 3,
      startedAt: T0,
      after: stream('Live', 1),
      awaited: [{ stream: stream('Live', 2), heardAt: T0, questions: ['cancellation'] }],
      tries: 1,
    });
  });

  it('pages through the invoices of one mode in the order of their streams', async () => {
    await rowsOfInvoices(database.pool, [
      { stream: stream('Test', 1), createdAt: T0, accessKey: null },
      { stream: stream('Live', 2), createdAt: T0, accessKey: 'k' },
      { stream: stream('Live', 1), createdAt: null, accessKey: null },
      { stream: stream('Live', 3), createdAt: T0, accessKey: null },
    ]);
    const first = await progressStore.page('live', null, 2);
    expect(first).toEqual([
      { stream: stream('Live', 1), createdAt: undefined, isSampled: false },
      { stream: stream('Live', 2), createdAt: T0, isSampled: true },
    ]);
    expect(await progressStore.page('live', stream('Live', 2), 2)).toEqual([
      { stream: stream('Live', 3), createdAt: T0, isSampled: false },
    ]);
    expect((await progressStore.page('test', null, 9)).map((row) => row.stream)).toEqual([stream('Test', 1)]);
  });

  it('tells an issued invoice whose cancellation failed from those of which a sample suffices', async () => {
    await rowsOfInvoices(database.pool, [
      { stream: stream('Test', 2), createdAt: T0, accessKey: 'a', cancellation: 'failed' },
      { stream: stream('Test', 3), createdAt: T0, accessKey: 'b', cancellation: 'succeeded' },
    ]);
    expect((await progressStore.page('test', stream('Test', 1), 9)).map(({ isSampled }) => isSampled)).toEqual([
      false,
      true,
    ]);
  });
});
