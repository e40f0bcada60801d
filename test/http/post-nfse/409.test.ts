import { describe, expect, it } from 'vitest';
import { bodyHashOf, sha256Hex } from '../../../src/app/event-store/hashes.js';
import { publicInvoiceId } from '../../../src/domain/common/ids.js';
import { DEMO_CNPJ, issueBodyOf } from '../../support/fixture/demo.js';
import { attempted, createHarness, queuedInvoice, rejected } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { CROWD, type Crowded, parallelPosts } from '../../support/parallel-posts.js';

const headers = { 'idempotency-key': 'k-1' };

describe('POST /v1/nfse 409', () => {
  it('idempotency_key_reuse: another body under the key, to the end of its 24 hours', async () => {
    const { call, pass } = createHarness();
    const first = (await (await call('/v1/nfse', { json: issueBodyOf(), headers })).json()) as { id: string };
    pass(86_399);
    const response = await call('/v1/nfse', { json: issueBodyOf({ amount_in_cents: 200 }), headers });
    const error = await expectRefusal(response, 409, 'idempotency_key_reuse');
    expect(error).toMatchObject({
      type: 'invalid_request',
      retryable: false,
      param: 'Idempotency-Key',
      livemode: false,
      message: expect.stringContaining(first.id),
    });
    expect(response.headers.get('retry-after')).toBeNull();
  });

  it('idempotency_key_in_use: the first request is still on its way', async () => {
    const { call, idempotency, state } = createHarness();
    const owner = { mode: 'test' as const, companyId: DEMO_CNPJ, keyHash: sha256Hex('k-1') };
    const claim = { leaseToken: 'lease', commandId: 'command', acceptedAt: state.now };
    await idempotency.claim(owner, bodyHashOf(issueBodyOf()), claim, state.now);
    const response = await call('/v1/nfse', { json: issueBodyOf(), headers });
    const error = await expectRefusal(response, 409, 'idempotency_key_in_use');
    expect(error.retryable).toBe(true);
    expect(response.headers.get('retry-after')).toBe('1');
  });

  it('nfse.reference_in_use: names the holder, permanently', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness, 'test', issueBodyOf({ reference: 'r-1' }));
    harness.pass(700_000);
    const response = await harness.call('/v1/nfse', { json: issueBodyOf({ reference: 'r-1', amount_in_cents: 900 }) });
    const error = await expectRefusal(response, 409, 'nfse.reference_in_use');
    expect(error).toMatchObject({ param: 'reference', retryable: false });
    expect(error.message).toContain(id);
  });

  it.each([
    ['live', /veja o carimbo do PDF \(SUBSTITUÍDA\) ou fale com o suporte antes de emitir outra\.$/],
    ['test', /A nota de teste pode ter sido apagada depois de 7 dias: então use outra reference\.$/],
  ] as const)('nfse.reference_in_use: says in %s mode what the status alone does not tell', async (key, said) => {
    const { call } = createHarness();
    for (const status of [202, 409]) {
      const response = await call('/v1/nfse', {
        key,
        json: issueBodyOf({ reference: 'r-1' }),
        headers: { 'idempotency-key': `k-${status}` },
      });
      expect(response.status).toBe(status);
      if (status === 409) expect((await expectRefusal(response, 409, 'nfse.reference_in_use')).message).toMatch(said);
    }
  });

  it('nfse.reference_in_use: also of a failed invoice, which stays as it is', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness, 'test', issueBodyOf({ reference: 'r-1' }));
    await harness.record(id, [attempted(), rejected()]);
    const shown = async (): Promise<unknown> => await (await harness.call(`/v1/nfse/${id}`)).json();
    const before = await shown();
    expect(before).toMatchObject({ id, status: 'failed', reference: 'r-1', amount_in_cents: 125_050 });
    const response = await harness.call('/v1/nfse', { json: issueBodyOf({ reference: 'r-1', amount_in_cents: 900 }) });
    const error = await expectRefusal(response, 409, 'nfse.reference_in_use');
    expect(error.message).toContain(id);
    expect(await shown()).toEqual(before);
  });

  it.each([
    ['with another key', { 'idempotency-key': 'k-2' }, 70],
    ['with the same key after its life', { 'idempotency-key': 'k-1' }, 86_401],
    ['without a key', {}, 70],
  ])('nfse.reference_in_use: before the rules, for a repeat %s', async (_repeat, headers, seconds) => {
    const harness = createHarness();
    const json = issueBodyOf({ reference: 'r-1' });
    const first = await harness.call('/v1/nfse', { json, headers: { 'idempotency-key': 'k-1' } });
    const { id } = (await first.json()) as { id: string };
    harness.pass(seconds);
    delete harness.company.certificate;
    const error = await expectRefusal(await harness.call('/v1/nfse', { json, headers }), 409, 'nfse.reference_in_use');
    expect(error.message).toContain(id);
    const free = await harness.call('/v1/nfse', { json: issueBodyOf({ reference: 'r-2' }), headers: {} });
    await expectRefusal(free, 422, 'company.certificate_missing');
  });

  it('duplicate_suspected: same amount and description without a key, another reference or not', async () => {
    const { call, pass } = createHarness();
    await call('/v1/nfse', { json: issueBodyOf(), headers });
    pass(59);
    const response = await call('/v1/nfse', { json: issueBodyOf({ reference: 'r-2' }) });
    expect((await expectRefusal(response, 409, 'duplicate_suspected')).retryable).toBe(false);
  });

  it.each([[{}], [headers]])('duplicate_suspected: names the accepted invoice, sent with %j', async (sent) => {
    const { call } = createHarness();
    const { id } = (await (await call('/v1/nfse', { json: issueBodyOf(), headers: sent })).json()) as { id: string };
    const error = await expectRefusal(await call('/v1/nfse', { json: issueBodyOf() }), 409, 'duplicate_suspected');
    expect(error.message).toContain(id);
  });

  it('nfse.reference_in_use: before duplicate_suspected, with the id of the invoice that has the reference', async () => {
    const { call } = createHarness();
    const idOf = async (json: object, key: string) =>
      ((await (await call('/v1/nfse', { json, headers: { 'idempotency-key': key } })).json()) as { id: string }).id;
    const id = await idOf(issueBodyOf({ reference: 'r-1' }), 'k-1');
    const { reference: _, ...plain } = issueBodyOf({ reference: 'r-1' }) as Record<string, unknown>;
    const other = await idOf(plain, 'k-2');
    const error = await expectRefusal(
      await call('/v1/nfse', { json: issueBodyOf({ reference: 'r-1' }), headers: {} }),
      409,
      'nfse.reference_in_use',
    );
    expect(error.message).toContain(id);
    expect(error.message).not.toContain(other);
  });

  it('duplicate_suspected: whatever the line ends of the description (TEXT-5)', async () => {
    const { call } = createHarness();
    expect((await call('/v1/nfse', { json: issueBodyOf({ description: 'um\r\ndois' }) })).status).toBe(202);
    const response = await call('/v1/nfse', { json: issueBodyOf({ description: 'um\ndois' }) });
    await expectRefusal(response, 409, 'duplicate_suspected');
  });

  it('a refused request leaves no trace in the duplicate window', async () => {
    const { call } = createHarness();
    expect((await call('/v1/nfse', { json: issueBodyOf({ cnae: '9999999' }) })).status).toBe(422);
    expect((await call('/v1/nfse', { json: issueBodyOf() })).status).toBe(202);
  });
});

/** One process, whose write quota the crowd does not exhaust. */
const crowded = (): Crowded => {
  const { call, log } = createHarness({ rateLimits: { write: 10 * CROWD, read: CROWD } });
  return {
    post: (_index, json, key) =>
      call('/v1/nfse', { json, ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }) }),
    accepted: async (amountInCents) =>
      (await log.readAll({ prefixes: ['nfse'], after: null, limit: 10 * CROWD })).flatMap(({ type, data }) =>
        type === 'InvoiceAccepted' && data.amountInCents === amountInCents
          ? [publicInvoiceId(String(data.invoiceId))]
          : [],
      ),
  };
};

describe('POST /v1/nfse: a hundred requests at once', () => parallelPosts(crowded));
