import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { requestOf, routes } from '../../support/fixture/routes.js';
import { type CallOptions, createHarness } from '../../support/harness/http.js';
import { commonHeadersOf } from '../../support/harness/http-answers.js';

const rate = (limit: number, remaining: number, reset = 60): Record<string, string> => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset),
});

const ID = '0190a1b2-0000-7000-8000-000000000000';

describe('the three rate headers', () => {
  it.each<[number, string, CallOptions]>([
    [202, '/v1/nfse', { json: issueBodyOf() }],
    [400, '/v1/nfse', { raw: '{' }],
    [400, '/v1/nfse', { json: {} }],
    [404, `/v1/nfse/${ID}/cancel`, { json: {} }],
    [413, '/v1/nfse', { raw: '{}', headers: { 'content-length': '10485761' } }],
    [415, '/v1/nfse', { raw: '{}', headers: { 'content-type': 'text/plain' } }],
    [422, '/v1/nfse', { json: issueBodyOf({ cnae: '9999999' }) }],
    [200, '/v1/nfse?reference=r', {}],
    [200, '/v1/activities', {}],
    [400, '/v1/nfse', {}],
    [400, '/v1/nfse/x', {}],
    [404, `/v1/nfse/${ID}`, {}],
    [400, '/v1/nfse/x/pdf', {}],
    [404, `/v1/nfse/${ID}/xml`, {}],
  ])('stand on a %i of %s, which spends a slot', async (status, path, options) => {
    const { call } = createHarness();
    const limit = options.json === undefined && options.raw === undefined ? 300 : 60;
    for (const remaining of [limit - 1, limit - 2]) {
      const response = await call(path, { ...options, headers: { ...options.headers } });
      if (remaining === limit - 1) expect(response.status).toBe(status);
      expect(commonHeadersOf(response)).toMatchObject(rate(limit, remaining));
    }
  });

  it.each(routes.filter(({ write }) => !write))('stand on HEAD of "$name", which spends one too', async ({ path }) => {
    const harness = createHarness({ rateLimits: { write: 60, read: 2 } });
    const head = async (): Promise<[number, object]> => {
      const response = await harness.call(path, { method: 'HEAD' });
      return [response.status, commonHeadersOf(response)];
    };
    const { status } = await harness.call(path);
    expect(await head()).toEqual([status, rate(2, 0)]);
    harness.pass(20.4);
    expect(await head()).toEqual([429, { ...rate(2, 0, 40), 'retry-after': '40' }]);
  });

  it.each(routes)('on "$name": the other bucket is not touched', async (route) => {
    const { call } = createHarness({ rateLimits: { write: 1, read: 1 } });
    await call(route.path, requestOf(route));
    expect((await call(route.path, requestOf(route))).status).toBe(429);
    const other = route.write
      ? await call('/v1/activities')
      : await call('/v1/nfse', { json: issueBodyOf({ amount_in_cents: 777 }) });
    expect([200, 202]).toContain(other.status);
    expect(commonHeadersOf(other)).toMatchObject(rate(1, 0));
  });

  it.each(routes)('on a 429 of "$name" with a test key: retryable, livemode false, Request-Id', async (route) => {
    const { call } = createHarness({ rateLimits: { write: 1, read: 1 } });
    await call(route.path, requestOf(route));
    const response = await call(route.path, requestOf(route));
    const { error } = (await response.json()) as { error: object };
    expect(error).toMatchObject({
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
      retryable: true,
      livemode: false,
      request_id: response.headers.get('request-id'),
    });
    expect(commonHeadersOf(response)).toEqual({ ...rate(1, 0), 'retry-after': '60' });
  });

  it('stand neither on what has no route nor on what is public', async () => {
    const { call } = createHarness();
    for (const path of ['/v1/nope', '/nope', '/docs', '/openapi.json'])
      expect(commonHeadersOf(await call(path))).toEqual({});
    expect(commonHeadersOf(await call('/v1/activities'))).toEqual(rate(300, 299));
  });
});
