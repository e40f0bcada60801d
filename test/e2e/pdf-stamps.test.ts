import { afterAll, beforeAll, expect } from 'vitest';
import { lettersOf, textOf } from '../adapters/pdf/support/poppler.js';
import { eventually } from '../support/eventually.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { itWith } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';
import { untilServed } from '../support/until-served.js';

type Mode = 'live' | 'test';
type Body = { id: string; status: string; links?: { pdf: string; xml: string } };

const INVALID = 'SEM VALIDADE JURÍDICA';

describeWithPostgres('the PDF that a client downloads', () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService({ SWEEP_INTERVAL_S: '1' });
  });
  afterAll(() => running.close());

  const call = async (mode: Mode, method: string, path: string, body?: object): Promise<Body> =>
    (await running.call<Body>(mode, method, path, body)).body;
  const until = (mode: Mode, id: string, wanted: string) =>
    eventually(
      () => call(mode, 'GET', `/v1/nfse/${id}`),
      ({ status }) => status === wanted,
    );
  const issued = async (mode: Mode, amount: number): Promise<Body> => {
    const { id } = await call(mode, 'POST', '/v1/nfse', { amount_in_cents: amount, description: 'Serviço' });
    return await until(mode, id, 'issued');
  };
  const download = async (link: string | undefined): Promise<Buffer> => {
    const response = await untilServed(() => fetch(link ?? ''));
    expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'application/pdf',
    });
    return Buffer.from(await response.arrayBuffer());
  };

  itWith('poppler', 'says in test mode, and only there, that it has no legal validity', async () => {
    const test = await issued('test', 10_001);
    expect(textOf(await download(test.links?.pdf))).toContain(INVALID);
    const live = await issued('live', 10_002);
    expect(textOf(await download(live.links?.pdf))).not.toContain(INVALID);
  });

  itWith('poppler', 'bears CANCELADA once it is canceled in live mode, and not before', async () => {
    const { id, links } = await issued('live', 20_001);
    expect(lettersOf(await download(links?.pdf))).not.toContain('CANCELADA');
    await call('live', 'POST', `/v1/nfse/${id}/cancel`, {});
    const canceled = await until('live', id, 'canceled');
    expect(lettersOf(await download(canceled.links?.pdf))).toContain('CANCELADA');
  });
});
