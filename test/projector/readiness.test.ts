import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { readCheckpoint } from '../../src/projector/checkpoints.js';
import { rebuildProjection } from '../../src/projector/rebuild.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { eventually } from '../support/eventually.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

const V = invoices.version;

type Health = { status: number; reasons: readonly string[] };

describeWithPostgres('readiness of a service whose live rows are damaged, or of another version', () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService();
  });
  afterAll(() => running.close());

  const health = async (): Promise<Health> => {
    const response = await fetch(`${running.service.opsUrl}/health/ready`);
    return { status: response.status, reasons: ((await response.json()) as Health).reasons };
  };
  /** What a newer program does beside this service. */
  const swapIn = async (version: number, compatibleFrom: number): Promise<void> => {
    const { log, pool: db } = running.service.engines;
    const newer = { ...invoices, version, compatibleFrom };
    await rebuildProjection(newer, new AbortController().signal, { log, db, clock: systemClock });
  };

  it('is ready again without a restart when a rebuild mends the rows at which the projector halted', async () => {
    const { engines } = running.service;
    const body = { amount_in_cents: 4_241, description: 'Antes do reparo' };
    const { id } = (await running.call<{ id: string }>('test', 'POST', '/v1/nfse', body)).body;
    const read = async () => (await running.call<{ status: string }>('test', 'GET', `/v1/nfse/${id}`)).body;
    await eventually(read, ({ status }) => status === 'issued');
    const head = async () => await engines.log.head();
    await eventually(async () => (await readCheckpoint(engines.pool, invoices)) === (await head()));
    await engines.pool.query(`update read.invoices set state = 'damaged'`);
    await running.call('test', 'POST', `/v1/nfse/${id}/cancel`, {});
    await eventually(
      health,
      ({ status, reasons }) => status === 503 && reasons.includes('projections: invoices halted'),
    );
    await swapIn(V, V);
    await eventually(health, ({ status }) => status === 200);
    await eventually(read, ({ status }) => status === 'canceled');
  });

  it('is ready with its own rows, not with rows that only newer readers know, and again with compatible ones', async () => {
    await eventually(health, ({ status }) => status === 200);
    await swapIn(V + 1, V + 1);
    const reasons = ['projections: invoices has rows of a newer version'];
    await expect.poll(health).toEqual({ status: 503, reasons });
    await swapIn(V + 2, V);
    await eventually(health, ({ status }) => status === 200);
  });

  it('goes on with invoices though its projector has halted, which moved no checkpoint and is no fault of readiness', async () => {
    const { engines, url } = running.service;
    const headers = { authorization: `Bearer ${running.keys.test}`, 'content-type': 'application/json' };
    const before = await readCheckpoint(engines.pool, invoices);
    const body = JSON.stringify({ amount_in_cents: 4_242, description: 'Depois da troca' });
    const response = await fetch(`${url}/v1/nfse`, { method: 'POST', headers, body });
    const { id } = (await response.json()) as { id: string };
    const read = async () => (await (await fetch(`${url}/v1/nfse/${id}`, { headers })).json()) as { status: string };
    await eventually(read, ({ status }) => status === 'issued');
    await eventually(health, ({ status }) => status === 200);
    expect(await readCheckpoint(engines.pool, invoices)).toBe(before);
  });
});
