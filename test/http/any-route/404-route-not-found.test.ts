import { describe, expect, it } from 'vitest';
import { routes } from '../../support/fixture/routes.js';
import { createHarness } from '../../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../../support/harness/http-answers.js';

const unknown = [
  '/v1',
  '/v1/',
  '/v1/nope',
  '/v1/nfse/',
  '/v1/nfse/a/b',
  '/v1/nfse/a/pdf/',
  '/V1/nfse',
  '/v2/nfse',
  '/',
  '/health',
];

describe('404 route_not_found', () => {
  it.each(unknown)('%s, with a key and without', async (path) => {
    for (const key of ['none', 'test'] as const) {
      const response = await createHarness().call(path, { key });
      const error = await expectRefusal(response, 404, 'route_not_found');
      expect(error).toMatchObject({ type: 'invalid_request', retryable: false });
      expect(error).not.toHaveProperty('livemode');
      expect(commonHeadersOf(response)).toEqual({});
    }
  });

  it.each(routes)('every other method on the path of "$name"', async ({ path }) => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
      await expectRefusal(await createHarness().call(path, { method, key: 'none' }), 404, 'route_not_found');
    }
  });

  it.each([
    ['PUT', '/v1/nfse', 'Esta rota não existe com este método: use POST ou GET.'],
    ['DELETE', '/v1/nfse/x', 'Esta rota não existe com este método: use GET.'],
    ['POST', '/v1/nfse/x/pdf', 'Esta rota não existe com este método: use GET.'],
    ['GET', '/v1/nfse/x/cancel', 'Esta rota não existe com este método: use POST.'],
    ['POST', '/v1/nfse/', 'Esta rota não existe: retire a barra do fim do caminho.'],
    ['GET', '/v1/nope/', 'Esta rota não existe. Confira o caminho e o método em /docs.'],
  ])('%s %s says: %s', async (method, path, message) => {
    const error = await expectRefusal(
      await createHarness().call(path, { method, key: 'none' }),
      404,
      'route_not_found',
    );
    expect(error).toMatchObject({ message });
  });

  it('POST on the paths that are only read', async () => {
    for (const path of ['/v1/activities', '/v1/nfse/x', '/v1/nfse/x/pdf', '/v1/nfse/x/xml']) {
      await expectRefusal(await createHarness().call(path, { json: {} }), 404, 'route_not_found');
    }
  });

  it('GET and HEAD on cancel', async () => {
    const path = '/v1/nfse/0190a1b2-0000-7000-8000-000000000000/cancel';
    await expectRefusal(await createHarness().call(path), 404, 'route_not_found');
    expect((await createHarness().call(path, { method: 'HEAD' })).status).toBe(404);
  });
});

describe('HEAD', () => {
  it.each(routes.filter(({ write }) => !write))('on "$name" is GET without a body', async ({ path }) => {
    const harness = createHarness();
    const get = await harness.call(path);
    const head = await harness.call(path, { method: 'HEAD' });
    expect(head.status).toBe(get.status);
    expect(await head.text()).toBe('');
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    expect(head.headers.get('ratelimit-remaining')).toBe('298');
  });
});
