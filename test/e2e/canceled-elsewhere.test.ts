import { afterAll, beforeAll, expect } from 'vitest';
import { lettersOf } from '../adapters/pdf/support/poppler.js';
import { eventually } from '../support/eventually.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { itWith } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';
import { untilServed } from '../support/until-served.js';

type Mode = 'live' | 'test';
type Body = {
  id: string;
  status: string;
  access_key?: string;
  cancelable_until?: string;
  cancellation?: { status: string };
  links?: { pdf: string; xml: string };
  error?: { code: string };
};

const PROMPT_ROUNDS = {
  RECONCILE_PACE_S: '1',
  RECONCILE_ROUND_S: '1',
  RECONCILE_SETTLED_S: '1',
  RECONCILE_SAMPLE_PERCENT: '100',
} as const;

describeWithPostgres('a note that is canceled or replaced elsewhere', () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService({ ...PROMPT, ...PROMPT_ROUNDS });
  });
  afterAll(() => running.close());

  const read = async (mode: Mode, id: string): Promise<Body> =>
    (await running.call<Body>(mode, 'GET', `/v1/nfse/${id}`)).body;
  const until = (mode: Mode, id: string, wanted: string): Promise<Body> =>
    eventually(
      () => read(mode, id),
      ({ status }) => status === wanted,
    );
  const issued = async (mode: Mode, amount: number): Promise<Body> => {
    const request = { amount_in_cents: amount, description: 'Serviço' };
    const { body } = await running.call<Body>(mode, 'POST', '/v1/nfse', request);
    return await until(mode, body.id, 'issued');
  };
  const link = (mode: Mode, { access_key }: Body, type: string) =>
    running.control('POST', '/_control/events', { environment: mode, access_key, type });
  const cancel = (mode: Mode, id: string) => running.call<Body>(mode, 'POST', `/v1/nfse/${id}/cancel`, {});
  const letters = async (url: string | undefined): Promise<string> => {
    const response = await untilServed(() => fetch(url ?? ''));
    expect(response.headers.get('content-type')).toBe('application/pdf');
    return lettersOf(Buffer.from(await response.arrayBuffer()));
  };

  itWith('poppler', 'lets a request that meets it succeed, and the PDF says SUBSTITUÍDA', async () => {
    const invoice = await issued('live', 30_001);
    await link('live', invoice, '105102');
    expect((await cancel('live', invoice.id)).status).toBe(202);
    const canceled = await until('live', invoice.id, 'canceled');
    expect(canceled).toMatchObject({ access_key: invoice.access_key, cancellation: { status: 'succeeded' } });
    expect(canceled).not.toHaveProperty('cancelable_until');
    const page = await letters(canceled.links?.pdf);
    expect([page.includes('SUBSTITUÍDA'), page.includes('CANCELADA')]).toEqual([true, false]);
  });

  itWith(
    'poppler',
    'is canceled without any request here, has no cancellation, and the PDF says CANCELADA',
    async () => {
      const invoice = await issued('live', 30_002);
      await link('live', invoice, '305101');
      const canceled = await until('live', invoice.id, 'canceled');
      expect(canceled).not.toHaveProperty('cancellation');
      expect(canceled).not.toHaveProperty('cancelable_until');
      expect(await letters(canceled.links?.pdf)).toContain('CANCELADA');
      const again = await cancel('live', invoice.id);
      expect([again.status, again.body.error?.code]).toEqual([409, 'nfse.already_canceled']);
    },
  );

  itWith('poppler', 'is canceled in test mode too, without links', async () => {
    const invoice = await issued('test', 30_003);
    await link('test', invoice, '101101');
    expect(await until('test', invoice.id, 'canceled')).not.toHaveProperty('links');
  });
});
