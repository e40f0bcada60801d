import { describe, expect, it } from 'vitest';
import { routes } from '../../support/fixture/routes.js';
import { createHarness, requestInit } from '../../support/harness/http.js';
import { errorOf } from '../../support/harness/http-answers.js';
import { openConnection, start } from '../server/connection.js';

const linkOf = (code: string): string => `</docs/errors/${code}>; rel="help"`;

describe('the Link of an error', () => {
  it.each(routes)('$name: leads to the page of its code', async ({ path, json }) => {
    const harness = createHarness();
    harness.state.switchedOff = true;
    const response = await harness.call(path, json === undefined ? {} : { json });
    const link = response.headers.get('link');
    expect(link).toBe(linkOf((await errorOf(response)).code));
    const [, page = ''] = /^<(.+)>/.exec(link ?? '') ?? [];
    expect((await harness.call(page, { key: 'none' })).status).toBe(200);
  });

  it.each([
    ['none', 401],
    ['readOnly', 403],
  ] as const)('is not there with the key %s: %i carries the Request-Id alone', async (key, status) => {
    const response = await createHarness().call('/v1/nfse', { key, json: {} });
    expect([response.status, response.headers.get('link')]).toEqual([status, null]);
  });

  it.each(routes)('$name: is not there where no page is served', async ({ path, json }) => {
    const harness = createHarness({ docs: false });
    harness.state.switchedOff = true;
    const { app, keys } = harness;
    const response = await app.request(path, requestInit(json === undefined ? {} : { json }, keys));
    expect([response.status, response.headers.get('link')]).toEqual([503, null]);
  });

  it.each([true, false])('of a request that is no HTTP is there where pages are served: %s', async (hasPages) => {
    const expected = hasPages ? linkOf('invalid_request') : null;
    const server = await start(createHarness(), { hasPages });
    for (const request of ['GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 'no http\r\n\r\n']) {
      const { socket, answers } = openConnection(server);
      socket.write(request);
      const [answer = Response.error()] = await answers(1);
      expect([answer.status, answer.headers.get('link')]).toEqual([400, expected]);
    }
  });
});
