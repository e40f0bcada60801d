import { afterEach, beforeEach, expect, it } from 'vitest';
import { auditCommands } from '../../src/cli/commands/audit.js';
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

const PAUSED = /^guards: the log, which ends at \d+, was restored or has lost its end, .*issuing is paused$/;

describeWithPostgres('a service whose one database fails over to a standby that had not received an attempt', () => {
  let database: FreshDatabase;
  let running: RunningService;
  beforeEach(async () => {
    database = await freshDatabase();
    running = await startRunningService({ ...PROMPT, DATABASE_URL: database.connectionString });
  });
  afterEach(async () => {
    await running.close();
    await database.close();
  });

  const accept = async (amount: number): Promise<string> => {
    const body = { amount_in_cents: amount, description: 'Consultoria' };
    const answer = await running.call<{ id: string }>('live', 'POST', '/v1/nfse', body);
    expect(answer.status).toBe(202);
    return answer.body.id;
  };
  const issued = (id: string) =>
    eventually(
      async () => (await running.call<{ status: string; access_key: string }>('live', 'GET', `/v1/nfse/${id}`)).body,
      ({ status }) => status === 'issued',
    );
  const notes = async (amount: number) =>
    ((await running.control('GET', '/_control/ledger')) as LedgerNote[]).filter(
      ({ amount_in_cents }) => amount_in_cents === amount,
    );
  /** The end of the log of a standby that has not received the attempt, once there is one. */
  const beforeAttempt = async (): Promise<bigint> => {
    const { rows } = await eventually(
      () =>
        database.admin.query<{ end: string }>(
          `select position - 1 as end from event_log where type = 'IssuanceAttempted' order by position limit 1`,
        ),
      ({ rowCount }) => rowCount === 1,
    );
    return BigInt(rows[0]?.end ?? 0);
  };
  const operate = async (...argv: string[]): Promise<{ exit: number; out: string }> => {
    const out: string[] = [];
    const write = (text: string): void => void out.push(text);
    const runner = createRunner(() => undefined);
    const session = sessionOver(running.service.engines, running.config, systemClock, { logger: runLogger(), runner });
    const terminal = { out: write, err: write };
    const exit = await runCommand(argv, [doctorCommand, ...auditCommands()], async () => session, terminal).finally(
      () => runner.stop(),
    );
    return { exit, out: out.join('\n') };
  };

  it('pauses issuing by itself, and gives the note back before anything is sent', { timeout: 300_000 }, async () => {
    const { opsUrl } = running.service;
    await becomesReady(opsUrl);
    const id = await accept(1_001);
    const before = await issued(id);
    await loseEnd(database, await beforeAttempt());
    await becomesNotReady(opsUrl, PAUSED);
    expect(await operate('doctor')).toMatchObject({
      exit: 1,
      out: expect.stringMatching(/BAD +guards .*has lost its end/),
    });
    expect(await operate('doctor', '--reconcile')).toMatchObject({
      exit: 0,
      out: expect.stringContaining('1 note that the log does not have, 1 recorded on its open invoice'),
    });
    await becomesReady(opsUrl);
    expect((await issued(id)).access_key).toBe(before.access_key);
    await issued(await accept(1_002));
    expect([await notes(1_001), await notes(1_002)]).toEqual([[expect.anything()], [expect.anything()]]);
  });

  it('gives a kept answer to the invoice whose attempt is lost, so that the whole log is sound', {
    timeout: 300_000,
  }, async () => {
    const { opsUrl } = running.service;
    await becomesReady(opsUrl);
    await running.control('POST', '/_control/faults', { on: 'issue', kind: 'slow', times: 1, delay_ms: 4_000 });
    const id = await accept(1_001);
    const before = await beforeAttempt();
    await loseEnd(database, before);
    await becomesNotReady(opsUrl, PAUSED);
    const recorded = () =>
      database.admin.query(
        `select type, record like '%attemptLost%' as lost from event_log where type in ('IssuanceAttempted', 'Authorized')`,
      );
    await eventually(async () => (await recorded()).rowCount === 1);
    expect((await recorded()).rows).toEqual([{ type: 'Authorized', lost: true }]);
    expect(await operate('doctor', '--reconcile')).toMatchObject({ exit: 0 });
    await becomesReady(opsUrl);
    expect(await operate('audit', 'verify', '--documents')).toMatchObject({ exit: 0 });
    const { access_key } = await issued(id);
    expect(await notes(1_001)).toMatchObject([{ access_key }]);
  });

  it('records the pause also while it stops, so that the next process makes no second note', {
    timeout: 300_000,
  }, async () => {
    await becomesReady(running.service.opsUrl);
    await running.control('POST', '/_control/faults', { on: 'issue', kind: 'slow', times: 1, delay_ms: 4_000 });
    await accept(1_001);
    const before = await beforeAttempt();
    const stopped = running.service.stop();
    await loseEnd(database, before);
    await stopped;
    expect(await database.admin.query('select from log_set_back')).toMatchObject({ rowCount: 1 });
  });
});
