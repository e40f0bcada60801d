import { describe, expect, it } from 'vitest';
import { requestFields } from '../../../src/runtime/config/logger.js';
import { requestOf, routes } from '../../support/fixture/routes.js';
import { createHarness, issuedInvoice, requestInit } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { start } from '../server/connection.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe.each(routes)('$name: the line of a request', (route) => {
  it('names the key by its id, also when it is refused, and never what was sent', async () => {
    const harness = createHarness();
    for (const key of ['test', 'disabled', 'revoked'] as const)
      await harness.call(route.path, { ...requestOf(route), key });
    expect(harness.summaries).toHaveLength(3);
    for (const summary of harness.summaries) expect(summary.keyId).toMatch(UUID);
    const lines = JSON.stringify(harness.summaries.map(requestFields));
    expect(lines).toContain('"key_id":');
    for (const key of Object.values(harness.keys)) expect(lines).not.toContain(key);
  });

  it('names none where none is known', async () => {
    const harness = createHarness();
    const headers = { authorization: `Bearer svc_sk_test_${'x'.repeat(43)}` };
    await harness.call(route.path, { ...requestOf(route), key: 'none' });
    await harness.call(route.path, { ...requestOf(route), key: 'none', headers });
    expect(harness.summaries).toHaveLength(2);
    for (const summary of harness.summaries) expect(summary).not.toHaveProperty('keyId');
  });
});

it('the line of a request names the address of the connection, not what a header says', async () => {
  const harness = createHarness();
  const { url } = await start(harness);
  const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
  for (const path of ['/v1/activities', '/v1/nope', '/nope', '/docs'])
    await (await fetch(`${url}${path}`, requestInit({ headers }, harness.keys))).text();
  await expect.poll(() => harness.summaries.length).toBe(4);
  expect(harness.summaries.map(requestFields).map(({ peer }) => peer)).toEqual(Array(4).fill('127.0.0.1'));
});

describe('X-Content-Type-Options', () => {
  it('is on every answer', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    const answers = [
      await harness.call('/v1/activities'),
      await harness.call(`/v1/nfse/${id}`),
      await harness.call(`/v1/nfse/${id}/pdf`),
      await harness.call('/v1/nfse/x'),
      await harness.call('/v1/nfse', { raw: '{' }),
      await harness.call('/v1/nope'),
      await harness.call('/nope'),
      await harness.call('/docs'),
      await harness.call('/openapi.json'),
    ];
    for (const { headers } of answers) expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('but those of 401 and 403, which carry the Request-Id alone', async () => {
    const { call } = createHarness();
    const unknown = await call('/v1/activities', { key: 'none' });
    const disabled = await call('/v1/activities', { key: 'disabled' });
    await expectRefusal(unknown, 401, 'unauthorized');
    await expectRefusal(disabled, 403, 'feature_not_enabled');
    for (const { headers } of [unknown, disabled]) expect(headers.has('x-content-type-options')).toBe(false);
  });
});
