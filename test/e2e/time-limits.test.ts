import { afterAll, beforeAll, expect, it } from 'vitest';
import { addSeconds, epochMs } from '../../src/domain/common/time.js';
import { type Role, roles } from '../../src/runtime/config/config.js';
import { eventually } from '../support/eventually.js';
import { runningClock } from '../support/harness/running-clock.js';
import { PROMPT, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

type Body = Record<string, unknown> & {
  id: string;
  status: string;
  created_at: string;
  failed_at?: string;
  cancellation?: { status: string; requested_at: string; error?: object };
};

/** The service with a running clock that the test can move forward. The tests assert only what a client sees. */
const startClient = async (withRoles: readonly Role[] = roles) => {
  const clock = runningClock();
  const running = await startRunningService(PROMPT, withRoles, clock);
  const call = async (method: string, path: string, body?: object): Promise<Body> =>
    (await running.call<Body>('live', method, path, body)).body;
  return {
    running,
    call,
    moveTo: clock.moveTo,
    polled: (id: string, wanted: (body: Body) => boolean) => eventually(() => call('GET', `/v1/nfse/${id}`), wanted),
    /** Until then the clock stands: what is recorded after a move is a signal of that later time. */
    recorded: (type: string) =>
      eventually(
        () => running.service.engines.log.readAll({ prefixes: ['nfse'], after: null, limit: 1_000 }),
        (events) => events.some((event) => event.type === type),
      ),
    fault: (on: string, kind: string, amount: number) =>
      running.control('POST', '/_control/faults', { on, kind, times: 1_000_000, match: { amount_in_cents: amount } }),
  };
};

type Client = Awaited<ReturnType<typeof startClient>>;

describeWithPostgres('polling always ends: nobody works on the queue', () => {
  let client: Client;
  beforeAll(async () => {
    client = await startClient(roles.filter((role) => role !== 'issuer' && role !== 'relay'));
  });
  afterAll(() => client.running.close());

  it('queued for 15 minutes without an attempt: failed, nfse.not_processed, at the expiry', async () => {
    const { call, moveTo, polled } = client;
    const { id, created_at } = await call('POST', '/v1/nfse', { amount_in_cents: 10_001, description: 'Na fila' });
    moveTo(created_at, 890);
    expect(await call('GET', `/v1/nfse/${id}`)).toMatchObject({ status: 'queued', failed_attempts: 0 });
    moveTo(created_at, 900);
    expect(await polled(id, ({ status }) => status !== 'queued')).toMatchObject({
      status: 'failed',
      failed_at: addSeconds(created_at, 900),
      failed_attempts: 0,
      error: { code: 'nfse.not_processed' },
    });
  });
});

describeWithPostgres('polling always ends: the authorizer never says what became of a request', () => {
  let client: Client;
  beforeAll(async () => {
    client = await startClient();
  });
  afterAll(() => client.running.close());

  it('processing for 60 minutes without a signal: indeterminate, nfse.issue_interrupted, at the expiry', async () => {
    const { call, fault, moveTo, polled, recorded } = client;
    await fault('issue', 'lost_after_commit', 20_002);
    await fault('lookup', 'http_500', 20_002);
    const { id, created_at } = await call('POST', '/v1/nfse', { amount_in_cents: 20_002, description: 'Sem resposta' });
    await polled(id, ({ status }) => status === 'processing');
    await recorded('IssuanceOutcomeUnknown');
    moveTo(created_at, 3590);
    expect(await call('GET', `/v1/nfse/${id}`)).toMatchObject({ status: 'processing' });
    moveTo(created_at, 3630);
    const ended = await polled(id, ({ status }) => status !== 'processing');
    expect(ended).toMatchObject({ status: 'indeterminate', error: { code: 'nfse.issue_interrupted' } });
    const lasted = (epochMs(ended.failed_at ?? '') - epochMs(created_at)) / 1000;
    expect(lasted).toBeGreaterThanOrEqual(3600);
    expect(lasted).toBeLessThan(3630);
    for (const absent of ['links', 'access_key', 'cancelable_until']) expect(ended).not.toHaveProperty(absent);
  });

  it('a cancellation that is never confirmed: failed, and the invoice stays issued', async () => {
    const { call, fault, moveTo, polled, recorded } = client;
    await fault('event', 'lost_before_commit', 30_003);
    await fault('event_lookup', 'http_500', 30_003);
    const { id } = await call('POST', '/v1/nfse', { amount_in_cents: 30_003, description: 'A cancelar' });
    await polled(id, ({ status }) => status === 'issued');
    const { cancellation } = await call('POST', `/v1/nfse/${id}/cancel`, {});
    expect(cancellation).toMatchObject({ status: 'pending' });
    await recorded('CancellationOutcomeUnknown');
    moveTo(cancellation?.requested_at ?? '', 3640);
    const ended = await polled(id, (body) => body.cancellation?.status !== 'pending');
    expect(ended).toMatchObject({
      status: 'issued',
      cancellation: { status: 'failed', error: { code: 'nfse.cancel_failed' } },
    });
    expect(ended).toHaveProperty('links.xml');
    expect(ended).not.toHaveProperty('cancelable_until');
  });
});
