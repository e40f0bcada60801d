import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pauseIssuingAtEnd } from '../../../src/adapters/guards-postgres/incomplete-log.js';
import { roles } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { eventually } from '../../support/eventually.js';
import { PROMPT, type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { describeWithPostgres } from '../../support/postgres.js';

const OVERDUE_DAY = '2020-01-01';

describeWithPostgres('keys and guards whose time is over', () => {
  let running: RunningService;
  beforeEach(async () => {
    running = await startRunningService(PROMPT, roles);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await running.close();
  });

  const query = (text: string) => running.service.engines.pool.query<{ count: number }>(text);

  const keepOverdueKey = () =>
    query(`insert into vault_day_keys (day, sealed) values ('${OVERDUE_DAY}', 'sealed under a key that is gone')`);

  const isGone = (from: string): Promise<unknown> =>
    eventually(
      async () => (await query(`select count(*)::int as count from ${from}`)).rows[0]?.count,
      (count) => count === 0,
    );

  it('go while every sweep fails', async () => {
    const failing = vi
      .spyOn(running.service.engines.readModel, 'expiredTestInvoices')
      .mockRejectedValue(new Error('out'));
    await eventually(
      async () => failing.mock.calls.length,
      (calls) => calls > 0,
    );
    await query(
      `insert into duplicate_marks values ('old', 'nfseTest-1', '2020-01-01T00:00:00.000Z', gen_random_uuid())`,
    );
    await keepOverdueKey();
    await isGone(`vault_day_keys where day = '${OVERDUE_DAY}'`);
    await isGone(`duplicate_marks where fingerprint = 'old'`);
  });

  it('of the two only the keys go while issuing is paused, which appends nothing', async () => {
    const { engines, opsUrl } = running.service;
    await pauseIssuingAtEnd(engines.pool, await engines.log.identity(), systemClock.now());
    await eventually(
      async () => (await fetch(`${opsUrl}/health/ready`)).status,
      (status) => status === 503,
    );
    const head = await engines.log.head();
    await keepOverdueKey();
    await isGone(`vault_day_keys where day = '${OVERDUE_DAY}'`);
    expect((await fetch(`${opsUrl}/health/ready`)).status).toBe(503);
    expect(await engines.log.head()).toBe(head);
  });
});
