import { describe, expect, it } from 'vitest';
import { requestOf, routes } from '../../support/fixture/routes.js';
import { createHarness, type Harness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

/** Content-Type is there of course; nothing else of the common headers is. */
const expectBare = (response: Response): void => {
  expect([...response.headers.keys()].sort()).toEqual(['content-type', 'request-id']);
};

const bad: readonly [string, (harness: Harness) => string][] = [
  ['an unknown key', () => `Bearer svc_sk_test_${'x'.repeat(43)}`],
  ['what is no key', () => 'Bearer svc_sk_test_unknown'],
  ['a revoked key', ({ keys }) => `Bearer ${keys.revoked}`],
  ['another scheme', ({ keys }) => `Basic ${keys.test}`],
  ['no scheme', ({ keys }) => keys.test],
  ['nothing after the scheme', () => 'Bearer '],
  ['another prefix', ({ keys }) => `Bearer ${keys.test.replace('svc_sk_test', 'svc_sk_live')}`],
  ['two keys', ({ keys }) => `Bearer ${keys.test} ${keys.live}`],
  ['another case', ({ keys }) => `Bearer ${keys.test.toUpperCase()}`],
];

describe.each(routes)('$name: 401 and 403', (route) => {
  it('401 without a key, before the body is looked at', async () => {
    const response = await createHarness().call(route.path, { ...requestOf(route), key: 'none' });
    const error = await expectRefusal(response, 401, 'unauthorized');
    expect(error).toMatchObject({ type: 'authentication_error', retryable: false });
    expect(error).not.toHaveProperty('livemode');
    expectBare(response);
  });

  it.each(bad)('401 for %s', async (_what, authorization) => {
    const harness = createHarness();
    const headers = { authorization: authorization(harness) };
    expectBare(await harness.call(route.path, { ...requestOf(route), key: 'none', headers }));
  });

  it('403 feature_not_enabled, spending nothing', async () => {
    const response = await createHarness().call(route.path, { ...requestOf(route), key: 'disabled' });
    const error = await expectRefusal(response, 403, 'feature_not_enabled');
    expect(error).toMatchObject({ type: 'permission_error', retryable: false });
    expect(error).not.toHaveProperty('livemode');
    expectBare(response);
  });

  it('403 insufficient_scope', async () => {
    const response = await createHarness().call(route.path, {
      ...requestOf(route),
      key: route.write ? 'readOnly' : 'writeOnly',
    });
    const { type, message } = await expectRefusal(response, 403, 'insufficient_scope');
    expect(type).toBe('permission_error');
    expect(message).toContain(`o escopo nfse:${route.write ? 'write' : 'read'},`);
    expectBare(response);
  });

  it('the other scope is not needed', async () => {
    const response = await createHarness().call(route.path, {
      ...requestOf(route),
      key: route.write ? 'writeOnly' : 'readOnly',
    });
    expect([200, 202, 404]).toContain(response.status);
  });
});

describe('the scheme', () => {
  it('is case-insensitive', async () => {
    const { call, keys } = createHarness();
    const headers = { authorization: `bearer ${keys.test}` };
    expect((await call('/v1/activities', { key: 'none', headers })).status).toBe(200);
  });
});
