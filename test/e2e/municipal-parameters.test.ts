import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run.js';
import { referenceCommands } from '../../src/runtime/commands/main.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

const RIO = '3304557';
const WITHIN_MS = 120_000;
const BODY = { amount_in_cents: 150_000, description: 'Desenvolvimento de sistema' };

type Shown = {
  requires_registration: boolean;
  parameters: Record<'test' | 'live', { question: string; told: object; age_s: number }[]>;
};

describeWithPostgres('a service whose municipality has parameters', () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService({ SWEEP_INTERVAL_S: '1' });
  });
  afterAll(() => running.close());

  const operate = async (...argv: string[]) => {
    const session = sessionOver(running.service.engines, running.config, systemClock);
    const lines: string[] = [];
    const exit = await runCommand([...argv, '--json'], referenceCommands, async () => session, {
      out: (line) => void lines.push(line),
      err: (line) => void lines.push(line),
    });
    if (exit !== 0) throw new Error(`${argv.join(' ')}: ${lines.join('\n')}`);
    return JSON.parse(lines.join('\n')) as Shown;
  };
  const issue = async (mode: 'test' | 'live') => {
    const response = await fetch(`${running.service.url}/v1/nfse`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${running.keys[mode]}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      body: JSON.stringify(BODY),
    });
    const answer = (await response.json()) as { error?: { code: string } };
    return answer.error?.code ?? response.status;
  };
  const parameters = async (): Promise<Shown> => await operate('municipality', 'show', RIO);

  it('learns them by itself, in both environments, and shows them with their age', async () => {
    const { parameters: shown } = await eventually(
      parameters,
      ({ parameters: { test, live } }) =>
        [test, live].every((all) => all.some(({ question, told }) => question === 'convenio' && told !== null)),
      WITHIN_MS,
    );
    for (const mode of ['test', 'live'] as const) {
      expect(shown[mode].find(({ question }) => question === 'convenio')).toMatchObject({
        told: { active: true, national_emitter: true, rfb_contributors_may_issue: true },
        in_use: true,
        age_s: expect.any(Number),
      });
    }
    await eventually(
      async () => (await fetch(`${running.service.opsUrl}/metrics`)).text(),
      (metrics) =>
        /nfse_municipal_parameters_age_seconds\{mode="test"\} \d/.test(metrics) &&
        /nfse_municipal_parameters_calls_total\{mode="test",outcome="told"\} [1-9]/.test(metrics),
      WITHIN_MS,
    );
  });

  it('refuses for want of a registration in test mode alone, and an operator’s word wins', async () => {
    const { pool } = running.service.engines;
    // As the API would tell it once a municipality admits only who has an entry in CNC.
    await pool.query(
      `update municipal_parameters set told = replace(told, '"rfbContributors":true', '"rfbContributors":false')
       where place = 'convenio'`,
    );
    expect((await parameters()).requires_registration).toBe(true);
    await eventually(
      () => issue('test'),
      (answer) => answer === 'nfse.municipal_registration_missing',
      WITHIN_MS,
    );
    expect(await issue('live')).toBe(202);
    await operate('municipality', 'set', RIO, '--requires-registration', 'off');
    expect((await parameters()).requires_registration).toBe(false);
    await eventually(
      () => issue('test'),
      (answer) => answer === 202,
      WITHIN_MS,
    );
  });
});
