import { afterEach, beforeEach, expect, it } from 'vitest';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { runCommand } from '../../src/cli/run.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import type { LedgerNote } from '../support/harness/ledger.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { loseEnd } from '../support/lost-end.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { becomesNotReady, becomesReady } from '../support/readiness.js';
import { runLogger } from '../support/run-logs.js';

describeWithPostgres('a send under way whose attempt is lost in a failover', () => {
  let database: FreshDatabase;
  let running: RunningService;
  beforeEach(async () => {
    database = await freshDatabase();
    // The service looks up a minute after the send, so that nothing but the comparison asks.
    const env = { ...PROMPT, LOOKUP_INTERVALS_S: '60,1', DATABASE_URL: database.connectionString };
    running = await startRunningService(env);
  });
  afterEach(async () => {
    await running.close();
    await database.close();
  });

  const reconcile = async (): Promise<{ exit: number; out: string }> => {
    const out: string[] = [];
    const write = (text: string): void => void out.push(text);
    const runner = createRunner(() => undefined);
    const session = sessionOver(running.service.engines, running.config, systemClock, {
      logger: runLogger(),
      runner,
    });
    const terminal = { out: write, err: write };
    const exit = await runCommand(['doctor', '--reconcile'], [doctorCommand], async () => session, terminal).finally(
      () => runner.stop(),
    );
    return { exit, out: out.join('\n') };
  };

  /** As a failover does: every session ends, and none begins before the end of the log is gone. */
  const failOverBefore = async (type: string): Promise<void> => {
    const { rows } = await database.admin.query<{ end: string }>(
      'select min(position) - 1 as end from event_log where type = $1',
      [type],
    );
    await loseEnd(database, BigInt(rows[0]?.end ?? 0));
  };

  it('is asked for after its deadline, also when the comparison begins at once', { timeout: 300_000 }, async () => {
    // The note appears 8 s after the send, before the deadline of the attempt, which is 6 s and 5 s of grace.
    await becomesReady(running.service.opsUrl);
    await running.control('POST', '/_control/faults', {
      on: 'issue',
      kind: 'late_commit',
      times: 1,
      delay_ms: 8_000,
    });
    const body = { amount_in_cents: 1_001, description: 'Consultoria' };
    const accepted = await running.call<{ id: string }>('live', 'POST', '/v1/nfse', body);
    expect(accepted.status).toBe(202);
    const answers = `select from event_log where type = 'IssuanceOutcomeUnknown'`;
    await eventually(async () => (await database.admin.query(answers)).rowCount === 1);
    await failOverBefore('IssuanceAttempted');
    await becomesNotReady(running.service.opsUrl, /guards/);
    await eventually(async () => (await database.admin.query('select from log_set_back')).rowCount === 1);
    const compared = await reconcile();
    expect(compared).toMatchObject({
      exit: 0,
      out: expect.stringContaining('1 note that the log does not have, 1 recorded on its open invoice'),
    });
    await eventually(
      async () => (await running.call<{ status: string }>('live', 'GET', `/v1/nfse/${accepted.body.id}`)).body,
      ({ status }) => status === 'issued',
    );
    const ledger = (await running.control('GET', '/_control/ledger')) as LedgerNote[];
    expect(ledger.filter(({ amount_in_cents }) => amount_in_cents === 1_001)).toHaveLength(1);
  });
});
