import { afterAll, beforeAll, expect, it } from 'vitest';
import { companies } from '../../../projections/companies.js';
import { createDistributionProgressStore } from '../../../src/adapters/reconciliation/distribution-progress.js';
import type { Mode } from '../../../src/domain/common/ids.js';
import type { Instant } from '../../../src/domain/common/time.js';
import type { DistributionProgress } from '../../../src/ports/distribution.js';
import { prepareProjections } from '../../../src/projector/projector.js';
import { at, T0 } from '../../support/fixture/invoice.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('how far the queues of the ADN were read, in the database', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  const asked = { nsu: 1, askedAt: T0, queueDueAt: T0, waiting: [] };
  const save = (mode: Mode, companyId: string, progress: Partial<DistributionProgress>) =>
    createDistributionProgressStore(database.pool).save({ mode, companyId }, { ...asked, dueAt: T0, ...progress });

  it('is kept for each mode and company', async () => {
    const store = createDistributionProgressStore(database.pool);
    const progress: DistributionProgress = {
      nsu: 17,
      askedAt: T0,
      endSeenAt: T0,
      queueDueAt: at(60),
      dueAt: T0,
      reason: 'http_429',
      waiting: [{ stream: 'nfseLive-12345678000195_00000000-0000-4000-8000-000000000001', tries: 2, dueAt: T0 }],
    };
    expect(await store.all('live')).toEqual(new Map());
    await save('live', '12345678000195', { nsu: 1 });
    await save('live', '12345678000195', progress);
    await save('test', '12345678000195', { nsu: 3 });
    expect(await store.all('live')).toEqual(new Map([['12345678000195', progress]]));
    expect((await store.all('test')).get('12345678000195')?.nsu).toBe(3);
  });

  it('says which enabled company is due: one that was never asked first, then by time', async () => {
    const store = createDistributionProgressStore(database.pool);
    const furthest = at(200);
    const due = async (now: Instant) => (await store.due('live', now, furthest))?.companyId;
    await database.pool.query('delete from distribution_progress');
    await prepareProjections(database.pool, memoryEventLog(), { now: () => T0 }, [companies]);
    for (const [companyId, enabled] of [
      ['11444777000161', true],
      ['12345678000195', true],
      ['98765432000198', false],
    ] as const)
      await database.pool.query(
        `insert into read.companies (company_id, revision, enabled, state) values ($1, 0, $2, '{}')`,
        [companyId, enabled],
      );
    expect(await store.oldestReading('live')).toEqual({ neverAsked: 2 });
    await save('live', '11444777000161', { dueAt: at(60), askedAt: at(10) });
    await save('live', '98765432000198', { dueAt: at(60), askedAt: T0 });
    expect(await store.oldestReading('live')).toEqual({ neverAsked: 1, askedAt: at(10) });
    await save('test', '12345678000195', {});
    expect(await store.due('live', at(90), furthest)).toEqual({ companyId: '12345678000195', progress: undefined });
    await save('live', '12345678000195', { dueAt: at(30) });
    expect([await due(at(90)), await due(at(30)), await due(T0)]).toEqual([
      '12345678000195',
      '12345678000195',
      undefined,
    ]);
    await save('live', '12345678000195', { dueAt: at(120) });
    expect(await store.due('live', at(90), furthest)).toMatchObject({
      companyId: '11444777000161',
      progress: { nsu: 1 },
    });
    await save('live', '11444777000161', { dueAt: at(200) });
    expect(await due(at(90))).toBeUndefined();
    await save('live', '11444777000161', { dueAt: at(201) });
    expect(await due(at(90))).toBe('11444777000161');
  });
});
