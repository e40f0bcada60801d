import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWalks } from '../../../src/adapters/reconciliation/walks.js';
import type { Walk, Walks } from '../../../src/ports/reconciliation.js';
import { T0 } from '../../domain/invoice/fixtures.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { rowsOfInvoices } from './invoice-rows.js';

const stream = (mode: 'Live' | 'Test', n: number) =>
  `nfse${mode}-12345678000195_00000000-0000-4000-8000-00000000000${n}`;

describeWithPostgres('the walk of the reconciliation in the database', () => {
  let database: FreshDatabase;
  let walks: Walks;
  beforeAll(async () => {
    database = await freshDatabase();
    walks = createWalks(database.pool);
  });
  afterAll(() => database.close());

  it('keeps its place per mode', async () => {
    const walk: Walk = { round: 3, startedAt: T0, after: stream('Live', 1), awaited: [], tries: 1 };
    expect(await walks.read('live')).toBeUndefined();
    await walks.save('live', { ...walk, round: 2 });
    await walks.save('live', walk);
    expect(await walks.read('live')).toEqual(walk);
    expect(await walks.read('test')).toBeUndefined();
  });

  it('pages through the invoices of one mode in the order of their streams', async () => {
    await rowsOfInvoices(database.pool, [
      { stream: stream('Test', 1), createdAt: T0, accessKey: null },
      { stream: stream('Live', 2), createdAt: T0, accessKey: 'k' },
      { stream: stream('Live', 1), createdAt: null, accessKey: null },
      { stream: stream('Live', 3), createdAt: T0, accessKey: null },
    ]);
    const first = await walks.page('live', null, 2);
    expect(first).toEqual([
      { stream: stream('Live', 1), createdAt: undefined, isIssued: false },
      { stream: stream('Live', 2), createdAt: T0, isIssued: true },
    ]);
    expect(await walks.page('live', stream('Live', 2), 2)).toEqual([
      { stream: stream('Live', 3), createdAt: T0, isIssued: false },
    ]);
    expect((await walks.page('test', null, 9)).map((row) => row.stream)).toEqual([stream('Test', 1)]);
  });
});
