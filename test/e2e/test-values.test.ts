import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { unreachable } from '../../src/domain/common/unreachable.js';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { TEST_VALUES } from '../../src/simulator/test-values.js';
import { eventually } from '../support/eventually.js';
import { runningClock } from '../support/harness/running-clock.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

type Body = { id: string; status: string; error?: object; cancellation?: { status: string; error?: object } };

type Way = (typeof TEST_VALUES)[number] & { way: 'customer' | 'amount' };

const WAYS: readonly Way[] = TEST_VALUES.flatMap((value) => [
  { ...value, way: 'customer' } as const,
  ...(value.amountInCents === undefined ? [] : [{ ...value, way: 'amount' } as const]),
]);

describeWithPostgres('each test value makes its outcome for a client of the public API', () => {
  const clock = runningClock();
  let running: RunningService;
  const unsettled: string[] = [];
  beforeAll(async () => {
    running = await startRunningService({ ...PROMPT, AUTHORIZER_TIMEOUT_S: '30' }, undefined, clock);
  });
  afterAll(() => running.close());

  const call = async (method: string, path: string, body?: object): Promise<Body> =>
    (await running.call<Body>('test', method, path, body)).body;
  const read = (id: string) => call('GET', `/v1/nfse/${id}`);
  const post = ({ way, outcome, customer, amountInCents }: Way) =>
    call('POST', '/v1/nfse', {
      description: `${outcome} ${customer} ${way}`,
      ...(way === 'customer'
        ? { amount_in_cents: 12_345, customer: { document: customer, name: 'CLIENTE DE TESTE' } }
        : { amount_in_cents: amountInCents }),
    });

  /** What polling shows, until the status is an outcome. */
  const polled = async (id: string): Promise<{ body: Body; seen: ReadonlySet<string> }> => {
    const seen = new Set<string>();
    const isOver = ({ status }: Body) => !seen.add(status).has('never') && !['queued', 'processing'].includes(status);
    return { body: await eventually(() => read(id), isOver), seen };
  };

  const canceled = async (id: string): Promise<Body> => {
    await polled(id);
    expect(await call('POST', `/v1/nfse/${id}/cancel`, {})).toMatchObject({ cancellation: { status: 'pending' } });
    return await eventually(
      () => read(id),
      ({ cancellation }) => cancellation?.status !== 'pending',
    );
  };

  /** By what the invoice or its cancellation was settled after the answer to its send was lost. */
  const settledAfter = async (
    id: string,
    lost: 'IssuanceOutcomeUnknown' | 'CancellationOutcomeUnknown',
    settled: 'Authorized' | 'CancellationConfirmed',
  ): Promise<unknown> => {
    const stream = invoiceStream('test', demoCompany().cnpj, id.slice('nfse_'.length));
    const events = await running.service.engines.log.read(stream);
    const at = events.findIndex(({ type }) => type === lost);
    return at < 0 ? `no ${lost}` : events.slice(at).find(({ type }) => type === settled)?.data.evidence;
  };

  const failedWith = (code: string) => ({
    status: 'failed',
    error: { code: 'issue_failed', message: expect.stringContaining(`(${code})`) },
  });

  const play = async (value: Way): Promise<void> => {
    const { id } = await post(value);
    const { outcome, customer } = value;
    switch (outcome) {
      case 'unregistered':
        expect((await polled(id)).body).toMatchObject(failedWith(customer.length === 14 ? 'E0190' : 'E0207'));
        return;
      case 'refused':
        expect((await polled(id)).body).toMatchObject(failedWith('E0312'));
        return;
      case 'slow':
      case 'lost': {
        const { body, seen } = await polled(id);
        expect([outcome, body.status, seen]).toEqual([outcome, 'issued', new Set([...seen, 'processing'])]);
        if (outcome === 'lost') expect(await settledAfter(id, 'IssuanceOutcomeUnknown', 'Authorized')).toBe('lookup');
        return;
      }
      case 'unsettled':
        unsettled.push(id);
        return;
      case 'cancel_refused': {
        const error = { code: 'nfse.cancel_failed', message: expect.stringContaining('E0822') };
        expect(await canceled(id)).toMatchObject({ status: 'issued', cancellation: { status: 'failed', error } });
        return;
      }
      case 'cancel_slow':
      case 'cancel_lost':
        expect(await canceled(id)).toMatchObject({ status: 'canceled', cancellation: { status: 'succeeded' } });
        if (outcome === 'cancel_lost')
          expect(await settledAfter(id, 'CancellationOutcomeUnknown', 'CancellationConfirmed')).toBe('lookup');
        return;
      default:
        unreachable(outcome);
    }
  };

  it('at once or within seconds', async () => {
    await Promise.all(WAYS.map(play));
  });

  it('indeterminate, when nothing was learnt for 60 minutes', async () => {
    expect(unsettled).toHaveLength(2);
    // Until then the clock stands: an answer that is recorded later would be a later signal.
    await eventually(
      () => running.service.engines.log.readAll({ prefixes: ['nfse'], after: null, limit: 1_000 }),
      (events) =>
        unsettled.every((id) =>
          events.some(({ type, stream }) => type === 'IssuanceOutcomeUnknown' && stream.endsWith(id.slice(5))),
        ),
    );
    for (const id of unsettled) expect(await read(id)).toMatchObject({ status: 'processing' });
    clock.pass(3_700);
    for (const id of unsettled) {
      const { body } = await polled(id);
      expect(body).toMatchObject({ status: 'indeterminate', error: { code: 'nfse.issue_interrupted' } });
    }
  });
});
