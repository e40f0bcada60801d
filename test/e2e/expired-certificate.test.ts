import { afterAll, beforeAll, expect, it } from 'vitest';
import { putCertificate } from '../../src/app/operator/company/company-commands.js';
import { addSeconds } from '../../src/domain/common/time.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { openEngines } from '../../src/runtime/engines/engines.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';
import { runLogger } from '../support/run-logs.js';

type Body = { id: string; status: string; cancellation?: { status: string } };

describeWithPostgres('a certificate that has expired', () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService(PROMPT);
  });
  afterAll(() => running.close());

  /** Stores the company's certificate again, as one that has expired. */
  const expire = async (): Promise<void> => {
    const { config } = running;
    const runner = createRunner(() => undefined);
    const engines = await openEngines({
      config,
      clock: systemClock,
      logger: runLogger(),
      runner,
      startedFor: 'command',
    });
    const session = sessionOver(engines, config, systemClock);
    const { certificateId = '' } = (await session.readModel.company(DEMO_CNPJ))?.certificate ?? {};
    const stored = await engines.vault.open(DEMO_CNPJ, certificateId);
    if (stored === undefined) throw new Error('the demo company has no certificate');
    const expired = { ...stored, notAfter: addSeconds(systemClock.now(), -1) };
    await putCertificate(DEMO_CNPJ, expired, engines.vault, session.companyDeps('test'));
    await runner.stop();
  };

  it('holds a cancellation back as a missing one does: nothing is attempted, and the notice is counted', async () => {
    const request = { amount_in_cents: 43_000, description: 'Serviço' };
    const { id } = (await running.call<Body>('live', 'POST', '/v1/nfse', request)).body;
    const shown = async (): Promise<Body> => (await running.call<Body>('live', 'GET', `/v1/nfse/${id}`)).body;
    await eventually(shown, ({ status }) => status === 'issued');
    await expire();
    const refused = async (): Promise<number> =>
      (await running.call('live', 'POST', '/v1/nfse', { ...request, amount_in_cents: 43_001 })).status;
    await eventually(refused, (status) => status === 422);
    expect((await running.call('live', 'POST', `/v1/nfse/${id}/cancel`, {})).status).toBe(202);
    const metrics = async (): Promise<string> => (await fetch(`${running.service.opsUrl}/metrics`)).text();
    const seen = await eventually(metrics, (text) =>
      /issuer_notices_total\{[^}]*certificate_missing[^}]*\} [1-9]/.test(text),
    );
    expect(seen).toMatch(/nfse_attempts_total\{mode="live",work="cancel"\} 0/);
  });
});
