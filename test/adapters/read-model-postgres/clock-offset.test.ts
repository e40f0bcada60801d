import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMonitoringReads } from '../../../src/adapters/read-model-postgres/monitoring-reads.js';
import { addSeconds, epochMs } from '../../../src/domain/common/time.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

it('the clock is compared with the server’s by the middle of the call', async () => {
  let now = '2026-11-29T12:00:00.000Z';
  const pool = {
    query: async () => {
      now = addSeconds(now, 4);
      return { rows: [{ ms: epochMs('2026-11-29T12:00:01.500Z') }] };
    },
  } as unknown as pg.Pool;
  expect(await createMonitoringReads(pool).clockOffset({ now: () => now })).toBe(0.5);
});

describeWithPostgres('the clock of a process, compared with that of PostgreSQL', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  it.each([0, 90, -90])('is %s seconds ahead', async (seconds) => {
    const clock = { now: () => addSeconds(systemClock.now(), seconds) };
    const offset = await createMonitoringReads(database.pool).clockOffset(clock);
    expect(Math.abs(offset - seconds)).toBeLessThan(10);
  });
});
