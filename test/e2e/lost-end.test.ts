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
  const operate = async (...argv: string[]): Promise<{ exit: number; out: string }> => {
    const out: string[] = [];
    const write = (text: string): void => void out.push(text);
    const runner = createRunner(() => undefined);
    const session = sessionOver(running.service.engines, running.config, systemClock, { logger: runLogger(), runner });
    const terminal = { out: write, err: write };
    const exit = await runCommand(argv, [doctorCommand], async () => session, terminal).finally(() => runner.stop());
    return { exit, out: out.join('\n') };
  };

  it('pauses issuing by itself, and gives the note back before anything is sent', { timeout: 300_000 }, async () => {
    // given
    const { opsUrl } = running.service;
    await becomesReady(opsUrl);
    const id = await accept(1_001);
    const before = await issued(id);
    // when
    const { rows } = await database.admin.query<{ end: string }>(
      `select min(position) - 1 as end from event_log where type = 'IssuanceAttempted'`,
    );
    await loseEnd(database, BigInt(rows[0]?.end ?? 0));
    // then
    await becomesNotReady(opsUrl, PAUSED);
    expect(await operate('doctor')).toMatchObject({
      exit: 1,
      out: expect.stringMatching(/BAD +guards .*has lost its end/),
    });
    expect(await operate('doctor', '--reconcile')).toMatchObject({
      exit: 0,
      out: expect.stringContaining('1 note behind the end of the log, 1 recorded on its open invoice'),
    });
    await becomesReady(opsUrl);
    expect((await issued(id)).access_key).toBe(before.access_key);
    await issued(await accept(1_002));
    expect([await notes(1_001), await notes(1_002)]).toEqual([[expect.anything()], [expect.anything()]]);
  });
});
