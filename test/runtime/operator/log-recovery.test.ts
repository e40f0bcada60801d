import { afterAll, beforeAll, expect, it } from 'vitest';
import { isIssuingPaused } from '../../../src/adapters/guards-postgres/incomplete-log.js';
import { doctorCommand } from '../../../src/cli/commands/doctor.js';
import { eventually } from '../../support/eventually.js';
import { type Operator, openOperator } from '../../support/harness/operator.js';
import { describeWithPostgres } from '../../support/postgres.js';

const RECONCILE = ['doctor', '--reconcile', '--without-authorizer', 'live', '--without-authorizer', 'test'] as const;

describeWithPostgres('a running comparison of a restored log', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([doctorCommand]);
  });
  afterAll(() => operator.close());

  const isPaused = async () => isIssuingPaused(operator.database.pool, await operator.session.log.identity());

  /** Runs the command up to the end of the pause, and lets it end after `meanwhile`. */
  const reconcileWhile = async (meanwhile: () => Promise<void>) => {
    const { admin } = operator.database;
    const client = await admin.connect();
    try {
      await client.query(`select pg_advisory_lock(hashtextextended('log recovery', 0))`);
      const running = operator.run(...RECONCILE);
      const waiting = `select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`;
      await eventually(async () => (await admin.query(waiting)).rowCount === 1);
      await meanwhile();
      await client.query(`select pg_advisory_unlock(hashtextextended('log recovery', 0))`);
      return await running;
    } finally {
      client.release(true);
    }
  };

  it('does not end a pause that is recorded again meanwhile, and the next one does', async () => {
    await operator.session.markRestored();
    const overtaken = await reconcileWhile(() => operator.session.markRestored());
    expect(overtaken).toMatchObject({ exit: 1, err: expect.stringContaining('recorded again during the comparison') });
    expect(await isPaused()).toBe(true);
    expect(await operator.run(...RECONCILE)).toMatchObject({ exit: 0 });
    expect(await isPaused()).toBe(false);
  });

  it('refuses a second comparison until it has ended', async () => {
    await operator.session.markRestored();
    const first = await reconcileWhile(async () => {
      const second = await operator.run(...RECONCILE);
      expect(second).toMatchObject({
        exit: 1,
        err: expect.stringContaining('another nfse doctor --reconcile compares this log now'),
      });
      expect(await isPaused()).toBe(true);
    });
    expect(first).toMatchObject({ exit: 0 });
    expect(await isPaused()).toBe(false);
  });
});
