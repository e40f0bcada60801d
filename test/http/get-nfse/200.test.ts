import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, queuedInvoice } from '../../support/harness/http.js';
import { commonHeadersOf } from '../../support/harness/http-answers.js';

const empty = { object: 'list', livemode: false, has_more: false, data: [] };

describe('GET /v1/nfse?reference= 200', () => {
  it('finds the one invoice', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness, 'test', issueBodyOf({ reference: 'pedido/1&é+' }));
    const response = await harness.call(`/v1/nfse?x=1&reference=${encodeURIComponent('pedido/1&é+')}&y`);
    expect(response.status).toBe(200);
    const body = (await response.json()) as object;
    expect(body).toMatchObject({
      ...empty,
      data: [{ object: 'nfse', id, reference: 'pedido/1&é+', status: 'queued' }],
    });
    expect(Object.keys(body)).toEqual(['object', 'livemode', 'has_more', 'data']);
    expect(commonHeadersOf(response)).toMatchObject({ 'ratelimit-limit': '300', 'ratelimit-remaining': '299' });
  });

  it('takes the first of two references', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness, 'test', issueBodyOf({ reference: 'a' }));
    expect(await (await harness.call('/v1/nfse?reference=a&reference=b')).json()).toMatchObject({ data: [{ id }] });
  });

  it.each(['nothing', 'a%20b', '%00', 'a%2525', 'x'.repeat(64)])('an empty list for %s', async (reference) => {
    const response = await createHarness().call(`/v1/nfse?reference=${reference}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(empty);
  });

  it('an empty list for the other mode, another company and a test invoice whose life is over', async () => {
    const harness = createHarness();
    await queuedInvoice(harness, 'test', issueBodyOf({ reference: 'r' }));
    expect(await (await harness.call('/v1/nfse?reference=r', { key: 'live' })).json()).toEqual({
      ...empty,
      livemode: true,
    });
    expect(await (await harness.call('/v1/nfse?reference=r', { key: 'otherCompany' })).json()).toEqual(empty);
    harness.pass(604_800);
    expect(await (await harness.call('/v1/nfse?reference=r')).json()).toEqual(empty);
  });
});
