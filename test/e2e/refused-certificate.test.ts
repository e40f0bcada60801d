import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMonitoringReads } from '../../src/adapters/read-model-postgres/monitoring-reads.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { certificateRefusalChecks } from '../../src/runtime/operator/checks.js';
import { eventually } from '../support/eventually.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

type Body = { id: string; status: string };

const INVOICES = 12;
/** A busy machine accepts and issues all of them within it. */
const QUEUED_S = 60;

describeWithPostgres('a certificate that the authorizer refuses with a page', () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService({ ...PROMPT, ALLOW_SHORT_WINDOWS: '1', QUEUED_TIMEOUT_S: String(QUEUED_S) });
  });
  afterAll(() => running.close());

  const refuseAll = async (): Promise<void> => {
    for (const on of ['issue', 'lookup', 'fetch'] as const)
      await running.control('POST', '/_control/faults', { on, kind: 'http_403_html', times: 1_000 });
  };
  const post = async (amount: number): Promise<string> => {
    const request = { amount_in_cents: amount, description: `Serviço ${amount}` };
    return (await running.call<Body>('live', 'POST', '/v1/nfse', request)).body.id;
  };
  const statuses = async (ids: readonly string[]): Promise<readonly string[]> => {
    const bodies = await Promise.all(ids.map((id) => running.call<Body>('live', 'GET', `/v1/nfse/${id}`)));
    return bodies.map(({ body }) => body.status);
  };
  const countOf = (all: readonly string[], wanted: string): number => all.filter((one) => one === wanted).length;
  const operations = async (path: string): Promise<string> =>
    (await fetch(`${running.service.opsUrl}${path}`, { headers: { 'accept-language': 'en' } })).text();

  it('meets one attempt, is named to operators, and when it is taken again all invoices are issued', async () => {
    await refuseAll();
    const first = await post(40_000);
    await eventually(
      () => operations('/metrics'),
      (text) => text.includes(`nfse_certificate_refused{mode="live",company="${DEMO_CNPJ}"} 1`),
    );
    const others = await Promise.all(Array.from({ length: INVOICES }, (_, nth) => post(40_001 + nth)));
    const calls = (await running.control('GET', '/_control/calls')) as { method: string }[];
    expect(calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(await statuses([first])).toEqual(['processing']);
    expect(countOf(await statuses(others), 'queued')).toBe(INVOICES);

    expect(await operations('/console/certificates')).toContain(
      `The authorizer refuses the certificate of CNPJ ${DEMO_CNPJ} in live mode`,
    );
    expect(await operations('/console')).toContain(`refuses the certificate of CNPJ ${DEMO_CNPJ}`);
    const pool = openPool({
      connectionString: running.config.databaseUrl ?? '',
      max: 1,
      applicationName: 'refused-certificate',
    });
    const checks = await certificateRefusalChecks(createMonitoringReads(pool));
    await pool.end();
    expect(checks).toMatchObject([{ name: `certificate ${DEMO_CNPJ} live`, ok: false }]);
    expect(checks[0]?.detail).toContain(`the authorizer refuses the certificate of CNPJ ${DEMO_CNPJ} in live mode`);

    await running.control('DELETE', '/_control/faults');
    await eventually(
      () => statuses([first, ...others]),
      (seen) => countOf(seen, 'issued') === INVOICES + 1,
    );
    await eventually(
      () => operations('/metrics'),
      (text) => !text.includes(`company="${DEMO_CNPJ}"} 1`),
    );
  });

  it('is not the one whose sends are taken while look-ups get the page, as of a company that is no actor of its note', async () => {
    for (const on of ['lookup', 'fetch'] as const)
      await running.control('POST', '/_control/faults', { on, kind: 'http_403_html', times: 1_000 });
    await running.control('POST', '/_control/faults', { on: 'issue', kind: 'lost_after_commit', times: 1 });
    const lookUps = async (): Promise<number> => {
      const calls = (await running.control('GET', '/_control/calls')) as { path: string }[];
      return calls.filter(({ path }) => path.includes('/dps/')).length;
    };
    const before = await lookUps();
    const lost = await post(42_000);
    await eventually(lookUps, (seen) => seen > before);
    const others = await Promise.all([42_001, 42_002, 42_003].map(post));
    await eventually(
      () => statuses(others),
      (seen) => countOf(seen, 'issued') === others.length,
    );
    expect(await statuses([lost])).toEqual(['processing']);
    expect(await operations('/metrics')).not.toContain(`company="${DEMO_CNPJ}"} 1`);

    await running.control('DELETE', '/_control/faults');
    await eventually(
      () => statuses([lost]),
      ([status]) => status === 'issued',
    );
  });

  it('lets invoices that it holds fail safe to repeat when their time is over', async () => {
    await refuseAll();
    const first = await post(41_000);
    await eventually(
      () => operations('/metrics'),
      (text) => text.includes(`company="${DEMO_CNPJ}"} 1`),
    );
    const held = await post(41_001);
    await eventually(
      () => statuses([held]),
      ([status]) => status === 'failed',
      4 * QUEUED_S * 1_000,
    );
    type Failed = { error: { code: string } };
    const { body } = await running.call<Failed>('live', 'GET', `/v1/nfse/${held}`);
    expect(body.error.code).toBe('nfse.not_processed');
    expect(await statuses([first])).toEqual(['processing']);
  });
});
