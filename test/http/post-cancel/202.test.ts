import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, issuedInvoice } from '../../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../../support/harness/http-answers.js';

describe('POST /v1/nfse/{id}/cancel 202', () => {
  it('answers with the issued invoice and its pending request', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    const response = await harness.call(`/v1/nfse/${id}/cancel`, { json: {} });
    expect(response.status).toBe(202);
    const body = await response.json();
    expect(body).toMatchObject({
      id,
      status: 'issued',
      cancellation: { status: 'pending', requested_at: harness.state.now, reason: 'other' },
      links: { pdf: expect.any(String) },
    });
    expect(body).not.toHaveProperty('cancelable_until');
    expect(commonHeadersOf(response)).toEqual({
      location: `/v1/nfse/${id}`,
      'retry-after': '3',
      'ratelimit-limit': '60',
      'ratelimit-remaining': '58',
      'ratelimit-reset': '60',
    });
  });

  it.each([{ reason: 'issuance_error' }, { reason: 'service_not_provided', description: 'Quinze letras!!' }])(
    'accepts %j',
    async (json) => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const response = await harness.call(`/v1/nfse/${id}/cancel`, { json });
      expect(response.status).toBe(202);
      expect(await response.json()).toMatchObject({ cancellation: { reason: json.reason } });
    },
  );

  it('is given for a company without a certificate that can be used, whose new invoices are refused', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    delete harness.company.certificate;
    const request = { json: issueBodyOf({ amount_in_cents: 700 }) };
    await expectRefusal(await harness.call('/v1/nfse', request), 422, 'company.certificate_missing');
    const read = await harness.call(`/v1/nfse/${id}`);
    expect(await read.json()).toHaveProperty('cancelable_until');
    const response = await harness.call(`/v1/nfse/${id}/cancel`, { json: {} });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ cancellation: { status: 'pending' } });
  });

  it('takes the id without prefix, in capitals', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    const bare = id.replace('nfse_', '').toUpperCase();
    const response = await harness.call(`/v1/nfse/${bare}/cancel`, { json: {} });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ id });
  });

  it('accepts the last second of the Brasília month', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness, 'live');
    harness.state.now = '2026-12-01T02:59:59.000Z';
    expect((await harness.call(`/v1/nfse/${id}/cancel`, { key: 'live', json: {} })).status).toBe(202);
  });

  it('test mode allows a new request after a failed one', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    await harness.call(`/v1/nfse/${id}/cancel`, { json: {} });
    await harness.record(id, [
      { type: 'CancellationNotConfirmed', data: { request: 1, reason: 'timeout', codes: [], at: harness.state.now } },
    ]);
    expect((await harness.call(`/v1/nfse/${id}/cancel`, { json: {} })).status).toBe(202);
  });
});
