import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDistributionProgressStore } from '../../../src/adapters/reconciliation/distribution-progress.js';
import type { DistributionProgress } from '../../../src/ports/distribution.js';
import { T0 } from '../../support/fixture/invoice.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('how far the queues of the ADN were read, in the database', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  it('is kept for each mode and company', async () => {
    const store = createDistributionProgressStore(database.pool);
    const progress: DistributionProgress = {
      ...{ nsu: 17, askedAt: T0, endSeenAt: T0, reason: 'http_429' },
      waiting: [{ stream: 'nfseLive-12345678000195_00000000-0000-4000-8000-000000000001', tries: 2, dueAt: T0 }],
    };
    expect(await store.all('live')).toEqual(new Map());
    await store.save({ mode: 'live', companyId: '12345678000195' }, { nsu: 1, askedAt: T0, waiting: [] });
    await store.save({ mode: 'live', companyId: '12345678000195' }, progress);
    await store.save({ mode: 'test', companyId: '12345678000195' }, { nsu: 3, askedAt: T0, waiting: [] });
    expect(await store.all('live')).toEqual(new Map([['12345678000195', progress]]));
    expect((await store.all('test')).get('12345678000195')?.nsu).toBe(3);
  });
});
