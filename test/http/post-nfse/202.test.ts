import { describe, expect, it } from 'vitest';
import { exportBodyOf, issueBodyOf, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { attempted, authorized, createHarness, issuedInvoice, START } from '../../support/harness/http.js';
import { commonHeadersOf } from '../../support/harness/http-answers.js';

describe('POST /v1/nfse 202', () => {
  it('answers with the queued invoice, its fields in the order of the contract', async () => {
    const { call } = createHarness();
    const response = await call('/v1/nfse', { json: issueBodyOf({ reference: 'pedido-1' }) });
    expect(response.status).toBe(202);
    const body = (await response.json()) as { id: string };
    expect(body).toEqual({
      object: 'nfse',
      id: expect.stringMatching(/^nfse_[0-9a-f-]{36}$/),
      livemode: false,
      status: 'queued',
      amount_in_cents: 125_050,
      description: 'Desenvolvimento de software',
      competence: '2026-11-21',
      reference: 'pedido-1',
      service_code: '010101',
      cnae: '6201501',
      failed_attempts: 0,
      created_at: START,
    });
    expect(Object.keys(body).slice(0, 5)).toEqual(['object', 'id', 'livemode', 'status', 'amount_in_cents']);
    expect(commonHeadersOf(response)).toEqual({
      location: `/v1/nfse/${body.id}`,
      'retry-after': '3',
      'ratelimit-limit': '60',
      'ratelimit-remaining': '59',
      'ratelimit-reset': '60',
    });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('request-id')).toMatch(/^req_/);
  });

  it('never takes the client’s request id', async () => {
    const { call } = createHarness();
    const response = await call('/v1/nfse', {
      json: issueBodyOf(),
      headers: { 'request-id': 'mine', 'x-request-id': 'mine' },
    });
    expect(response.headers.get('request-id')).not.toBe('mine');
  });

  it('takes the mode from the key', async () => {
    const { call } = createHarness();
    const response = await call('/v1/nfse', { key: 'live', json: issueBodyOf() });
    expect(await response.json()).toMatchObject({ livemode: true });
  });

  it.each(['100.0', '1e2', '9007199254740991'])('accepts the JSON number %s', async (number) => {
    const { call } = createHarness();
    const response = await call('/v1/nfse', { raw: `{"amount_in_cents":${number},"description":"x"}` });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ amount_in_cents: Number(number) });
  });

  it('expands the markers by the Brasília date of receipt', async () => {
    const { call, state } = createHarness();
    state.now = '2026-12-01T02:59:59.000Z';
    const description = '{{data}} {{mes}} {{mes_extenso}} {{mes_anterior}} {{mes_anterior_extenso}} {{ano}} {{outro}}';
    const response = await call('/v1/nfse', { json: issueBodyOf({ description }) });
    expect(await response.json()).toMatchObject({
      description: '30/11/2026 11 novembro 10 outubro 2026 {{outro}}',
      competence: '2026-11-30',
    });
  });

  it.each([
    ['2000 characters beyond the basic plane', { description: '😀'.repeat(2000) }],
    ['line breaks in the description', { description: 'um\r\ndois' }],
    ['64 characters of reference', { reference: 'é'.repeat(64) }],
    ['an empty customer', { customer: {} }],
    ['a customer with a name alone', { customer: { name: 'Maria' } }],
    ['a CPF with a wrong digit', { customer: { document: '11111111111', name: 'Maria' } }],
    ['a line that is no default', { cnae: '6201501', service_code: '010201' }],
  ])('accepts %s', async (_what, changes) => {
    const { call } = createHarness();
    expect((await call('/v1/nfse', { json: issueBodyOf(changes) })).status).toBe(202);
  });

  it('takes an empty customer for none', async () => {
    const { call } = createHarness();
    expect(await (await call('/v1/nfse', { json: issueBodyOf({ customer: {} }) })).json()).not.toHaveProperty(
      'customer',
    );
  });

  it('shows the name of the tax registry for a CNPJ', async () => {
    const { call } = createHarness();
    const customer = { document: OTHER_CNPJ, name: 'Outro nome' };
    const response = await call('/v1/nfse', { json: issueBodyOf({ customer }) });
    expect(await response.json()).toMatchObject({
      customer: { type: 'br', document: OTHER_CNPJ, name: 'CLIENTE REGISTRADO SA' },
    });
  });

  it('accepts an export', async () => {
    const { call } = createHarness();
    const response = await call('/v1/nfse', { json: exportBodyOf() });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({
      customer: { type: 'foreign', tax_id: '12-3456789', address: { country: 'US', postal_code: '97477' } },
      foreign_amount: { currency: 'USD', amount_in_cents: 25_000 },
    });
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json ;x=y'])(
    'accepts the content type %s',
    async (type) => {
      const { call } = createHarness();
      expect((await call('/v1/nfse', { json: issueBodyOf(), headers: { 'content-type': type } })).status).toBe(202);
    },
  );

  it('skips a byte order mark', async () => {
    const { call } = createHarness();
    expect((await call('/v1/nfse', { raw: `\ufeff${JSON.stringify(issueBodyOf())}` })).status).toBe(202);
  });

  it('lets the last of two equal keys count', async () => {
    const { call } = createHarness();
    const response = await call('/v1/nfse', { raw: '{"amount_in_cents":1,"description":"x","amount_in_cents":200}' });
    expect(await response.json()).toMatchObject({ amount_in_cents: 200 });
  });

  it('replays a key with the current state of its invoice, white space and order of keys aside', async () => {
    const harness = createHarness();
    const headers = { 'idempotency-key': 'k-1' };
    const first = await harness.call('/v1/nfse', { raw: '{"amount_in_cents":500,"description":"x"}', headers });
    const { id } = (await first.json()) as { id: string };
    await harness.record(id, [attempted(), authorized()]);
    const again = await harness.call('/v1/nfse', { raw: '{ "description":"x", "amount_in_cents":500 }', headers });
    expect(again.status).toBe(202);
    expect(await again.json()).toMatchObject({ id, status: 'issued' });
    expect(commonHeadersOf(again)).toMatchObject({
      location: `/v1/nfse/${id}`,
      'retry-after': '3',
      'ratelimit-remaining': '58',
    });
  });

  it('replays a key whatever the line ends of its texts (TEXT-5)', async () => {
    const { call } = createHarness();
    const headers = { 'idempotency-key': 'k-1' };
    const post = async (description: string) =>
      (await (await call('/v1/nfse', { json: issueBodyOf({ description }), headers })).json()) as { id: string };
    const first = await post('um\r\ndois\rtrês');
    expect(await post('um\ndois\ntrês')).toMatchObject({ id: first.id, description: 'um\ndois\ntrês' });
  });

  it('issues again when the key is forgotten after 24 hours', async () => {
    const { call, pass } = createHarness();
    const headers = { 'idempotency-key': 'k-1' };
    const first = (await (await call('/v1/nfse', { json: issueBodyOf(), headers })).json()) as { id: string };
    pass(86_400);
    const second = (await (await call('/v1/nfse', { json: issueBodyOf(), headers })).json()) as { id: string };
    expect(second.id).not.toBe(first.id);
  });

  it('frees the key of a refused request for a corrected body', async () => {
    const { call } = createHarness();
    const headers = { 'idempotency-key': 'k-1' };
    expect((await call('/v1/nfse', { json: issueBodyOf({ cnae: '9999999' }), headers })).status).toBe(422);
    expect((await call('/v1/nfse', { json: issueBodyOf(), headers })).status).toBe(202);
  });

  it('does not suspect a duplicate after 60 seconds, nor of a keyed request', async () => {
    const { call, pass } = createHarness();
    const issue = async (headers = {}): Promise<number> =>
      (await call('/v1/nfse', { json: issueBodyOf(), headers })).status;
    expect(await issue()).toBe(202);
    expect(await issue({ 'idempotency-key': 'k' })).toBe(202);
    pass(61);
    expect(await issue()).toBe(202);
  });

  it('keeps the modes apart: the same reference works in both', async () => {
    const harness = createHarness();
    await issuedInvoice(harness, 'live');
    const json = issueBodyOf({ reference: 'both' });
    expect((await harness.call('/v1/nfse', { json })).status).toBe(202);
    expect((await harness.call('/v1/nfse', { key: 'live', json: { ...json, amount_in_cents: 777 } })).status).toBe(202);
  });
});
