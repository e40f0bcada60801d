import { afterAll, beforeAll, expect, it } from 'vitest';
import { putCertificate } from '../../src/app/operator/company/company-commands.js';
import { waitingWork } from '../../src/app/operator/support/waiting.js';
import { waitsFor } from '../../src/app/operator/support/waits-for.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { addSeconds } from '../../src/domain/common/time.js';
import { OPERATOR_CACHE_MS } from '../../src/runtime/engines/companies.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { runningClock } from '../support/harness/running-clock.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

type Body = { id: string; status: string; cancellation?: { status: string } };

const HOUR = 3_600;

describeWithPostgres('a certificate that has expired', () => {
  const clock = runningClock();
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService(PROMPT, undefined, clock);
  });
  afterAll(() => running.close());

  /** Stores the company's certificate again, as one that has expired, and lets the time pass for which the issuer may know the earlier one. */
  const expire = async (): Promise<void> => {
    const { engines } = running.service;
    const session = sessionOver(engines, running.config, clock);
    const idOf = async () => (await session.readModel.company(DEMO_CNPJ))?.certificate?.certificateId;
    const earlier = await idOf();
    const stored = await engines.vault.open(DEMO_CNPJ, earlier ?? '');
    if (stored === undefined) throw new Error('the demo company has no certificate');
    const expired = { ...stored, notAfter: addSeconds(clock.now(), -1) };
    await putCertificate(DEMO_CNPJ, expired, engines.vault, session.companyDeps('test'));
    await eventually(idOf, (id) => id !== earlier);
    clock.pass(OPERATOR_CACHE_MS / 1_000);
  };

  it('holds a cancellation back as a missing one does: nothing is attempted, and the notice is counted', async () => {
    const request = { amount_in_cents: 43_000, description: 'Serviço' };
    const { id } = (await running.call<Body>('live', 'POST', '/v1/nfse', request)).body;
    const shown = async (): Promise<Body> => (await running.call<Body>('live', 'GET', `/v1/nfse/${id}`)).body;
    await eventually(shown, ({ status }) => status === 'issued');
    await expire();
    expect((await running.call('live', 'POST', `/v1/nfse/${id}/cancel`, {})).status).toBe(202);
    const metrics = async (): Promise<string> => (await fetch(`${running.service.opsUrl}/metrics`)).text();
    const seen = await eventually(metrics, (text) =>
      /issuer_notices_total\{[^}]*certificate_missing[^}]*\} [1-9]/.test(text),
    );
    expect(seen).toMatch(/nfse_attempts_total\{mode="live",work="cancel"\} 0/);
    const { engines } = running.service;
    const deps = { ...sessionOver(engines, running.config, clock), clock };
    const stream = invoiceStream('live', DEMO_CNPJ, id.slice('nfse_'.length));
    const waits = await waitsFor(stream, await engines.log.read(stream), deps);
    expect(waits).toMatchObject({ next: { step: 'send' }, held: [{ kind: 'certificate_missing' }] });
    clock.pass(HOUR);
    const { body } = await eventually(
      () => running.call<Body>('live', 'GET', `/v1/nfse/${id}`),
      (answer) => answer.body.cancellation?.status === 'failed',
    );
    expect(body).toMatchObject({ status: 'issued', cancellation: { error: { code: 'nfse.cancel_failed' } } });
    const { oldest } = await eventually(
      () => waitingWork(deps, 1),
      ({ count }) => count > 0,
    );
    expect(oldest).toEqual([expect.objectContaining({ id, detail: expect.stringContaining('has no send of it') })]);
  });
});
