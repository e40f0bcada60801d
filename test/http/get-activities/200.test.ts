import { describe, expect, it } from 'vitest';
import { createHarness } from '../../support/harness/http.js';
import { commonHeadersOf } from '../../support/harness/http-answers.js';

describe('GET /v1/activities 200', () => {
  it('lists the issuable lines, main activity first', async () => {
    const response = await createHarness().call('/v1/activities');
    expect(response.status).toBe(200);
    const body = (await response.json()) as { data: object[] };
    expect(body).toMatchObject({
      object: 'list',
      has_more: false,
      data: [
        {
          object: 'activity',
          cnae: '6201501',
          service_code: '010101',
          description: '6201-5/01 Desenvolvimento de programas',
          is_main: true,
          is_default: true,
        },
        { cnae: '6201501', service_code: '010201', is_default: false },
        { cnae: '6202300', service_code: '010301', is_main: false, is_default: false },
      ],
    });
    expect(body.data).toHaveLength(3);
    expect(commonHeadersOf(response)).toMatchObject({ 'ratelimit-limit': '300', 'ratelimit-remaining': '299' });
  });

  it('every line of it issues', async () => {
    const { call, pass } = createHarness();
    const { data } = (await (await call('/v1/activities')).json()) as {
      data: { cnae: string; service_code: string }[];
    };
    expect(data.length).toBeGreaterThan(0);
    for (const { cnae, service_code } of data) {
      pass(61);
      const json = { amount_in_cents: 100, description: 'x', cnae, service_code };
      expect((await call('/v1/nfse', { json })).status).toBe(202);
    }
  });

  it('lists the same lines while a reason of the company refuses each of them', async () => {
    const harness = createHarness();
    const listed = async (): Promise<unknown> => await (await harness.call('/v1/activities')).json();
    const before = await listed();
    harness.company.registration = { ...harness.company.registration, automaticIssuance: false };
    expect(await listed()).toEqual(before);
    const json = { amount_in_cents: 100, description: 'x', cnae: '6201501', service_code: '010101' };
    expect((await harness.call('/v1/nfse', { json })).status).toBe(422);
  });

  it('is empty when nothing is released', async () => {
    const harness = createHarness();
    harness.company.registration = { ...harness.company.registration, activities: [] };
    expect(await (await harness.call('/v1/activities')).json()).toMatchObject({ object: 'list', data: [] });
  });
});
