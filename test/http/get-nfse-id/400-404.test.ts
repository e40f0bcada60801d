import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createHarness, queuedInvoice } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const UUID = '0190a1b2-0000-7000-8000-000000000000';

describe('GET /v1/nfse/{id} 400 invalid_id', () => {
  it.each([
    'x',
    `nfe_${UUID}`,
    `NFSE_${UUID}`,
    `nfse_nfse_${UUID}`,
    UUID.slice(1),
    `${UUID}0`,
    'nfse_',
    '%2e%2e%2fx',
    `${UUID}%00`,
    '%zz',
  ])('%s', async (id) => {
    const response = await createHarness().call(`/v1/nfse/${id}`);
    const error = await expectRefusal(response, 400, 'invalid_id');
    expect(error).toMatchObject({ param: 'id', livemode: false, retryable: false });
    expect(error).not.toHaveProperty('errors');
    expect(response.headers.get('ratelimit-remaining')).toBe('299');
  });

  it('comes after the credential', async () => {
    await expectRefusal(await createHarness().call('/v1/nfse/x', { key: 'none' }), 401, 'unauthorized');
  });
});

describe('GET /v1/nfse/{id} 404 not_found', () => {
  it('is the same for nonexistent, of another company and of another mode', async () => {
    const harness = createHarness();
    const live = await queuedInvoice(harness, 'live');
    const other = await queuedInvoice(harness, 'otherCompany');
    const bodies = await Promise.all(
      [live, other, `nfse_${randomUUID()}`, UUID].map(async (id) => {
        const response = await harness.call(`/v1/nfse/${id}`);
        const { request_id: _requestId, ...error } = await expectRefusal(response, 404, 'not_found');
        return error;
      }),
    );
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(bodies[0]).toMatchObject({ type: 'invalid_request', livemode: false, retryable: false });
  });
});
