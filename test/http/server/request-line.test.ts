import { describe, expect, it } from 'vitest';
import { createHarness } from '../../support/harness/http.js';
import { exchange, expectEnvelope, headOf, openConnection, start } from './connection.js';

describe('404 route_not_found for a method that no route has', () => {
  it.each(['TRACE', 'OPTIONS', 'PATCH', 'PROPFIND', 'M-SEARCH', 'CONNECT', 'FOO', 'get', 'A!b~', 'VERYLONGMETHODNAME'])(
    '%s /v1/nfse',
    async (method) => {
      const harness = createHarness();
      const server = await start(harness);
      await expectEnvelope(await exchange(server, headOf(harness, `${method} /v1/nfse`)), 404, 'route_not_found');
    },
  );

  it('CONNECT to another host opens no tunnel: what follows is not forwarded and the connection ends', async () => {
    const connection = openConnection(await start(createHarness()));
    connection.socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\nGET / HTTP/1.1\r\n\r\n');
    const [answer, more] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 404, 'route_not_found');
    await expect.poll(connection.isClosed).toBe(true);
    expect(more).toBeUndefined();
  });

  it('OPTIONS *, which is no path', async () => {
    const answer = await exchange(await start(createHarness()), 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n');
    await expectEnvelope(answer, 404, 'route_not_found');
  });
});

describe('404 route_not_found for a path that no route has', () => {
  it.each([
    '//v1/nfse',
    '/v1//nfse',
    '/v1',
    '/v1/',
    '/v1/nfse/',
    '/v1/activities/',
    '/v1%2Fnfse',
    '/v1/nfse%2Fx',
    '/v1/nfse/..',
    '/v1/nfse/%2e%2e',
    '/v1/../../etc/passwd',
    '/v1/./nope',
    '/..;/v1/nfse',
    '/v1;x=1/nfse',
    '/v1/nfse;x=1',
    '/V1/nfse',
    '/v1/NFSE',
    '/v1/nfse/a/pdf/b',
    '/v1/__proto__',
    '/',
    '/?x=/v1/nfse',
  ])('GET %s', async (path) => {
    const harness = createHarness();
    const server = await start(harness);
    await expectEnvelope(await exchange(server, headOf(harness, `GET ${path}`)), 404, 'route_not_found');
  });
});

describe('other spellings of a path that a route has', () => {
  it.each([
    '/v1/./activities',
    '/v1/nfse/../activities',
    '/v1/%61ctivities',
    '/v1/activities?',
    '/v1/activities?x=%ff',
  ])('GET %s is that route', async (path) => {
    const harness = createHarness();
    expect((await exchange(await start(harness), headOf(harness, `GET ${path}`))).status).toBe(200);
  });

  it.each(['/v1/nfse/%ff', '/v1/nfse/%zz', '/v1/nfse/%00', '/v1/nfse/%2F..%2Factivities'])(
    'GET %s is an id that is none',
    async (path) => {
      const harness = createHarness();
      await expectEnvelope(await exchange(await start(harness), headOf(harness, `GET ${path}`)), 400, 'invalid_id');
    },
  );

  it('the absolute form is taken by its path, whatever host it names', async () => {
    const harness = createHarness();
    const server = await start(harness);
    const to = (target: string): Promise<Response> => exchange(server, headOf(harness, `GET ${target}`));
    expect((await to('http://example.com/v1/activities')).status).toBe(200);
    await expectEnvelope(await to('http://example.com'), 404, 'route_not_found');
  });
});

describe('400 for what is no HTTP request', () => {
  it.each([
    ['an absolute form without a host', 'GET http://[/v1/activities HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an absolute form of another scheme', 'GET ftp://x/v1/activities HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an authority for a target', 'GET x:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a backslash in the path', 'GET /v1\\activities HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['NUL in the path', 'GET /v1/\0activities HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a byte beyond ASCII in the path', Buffer.from('GET /v1/nfse/\xe9 HTTP/1.1\r\nHost: x\r\n\r\n', 'latin1')],
    ['HTTP/0.9', 'GET /v1/activities\r\n\r\n'],
    ['HTTP/0.9 with its number', 'GET /v1/activities HTTP/0.9\r\nHost: x\r\n\r\n'],
    ['HTTP/2.0', 'GET /v1/activities HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['CONNECT by HTTP/2.0', 'CONNECT x:443 HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['a version that does not exist', 'GET /v1/activities HTTP/7.5\r\nHost: x\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the beginning of TLS', Buffer.from('16030100a5010000a10303', 'hex')],
    ['an unknown method before something that is no target', 'FOO BAR BAZ QUX\r\n\r\n'],
  ])('%s', async (_what, bytes) => {
    await expectEnvelope(await exchange(await start(createHarness()), bytes), 400, 'invalid_request');
  });
});

it.each(['ftp://x/v1/activities', 'http://[/v1/activities', '/v1\\activities'])(
  '400 for GET %s ends the connection, because nothing paces this refusal',
  async (target) => {
    const connection = openConnection(await start(createHarness()));
    connection.socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(3));
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 400, 'invalid_request');
    await expect.poll(connection.isClosed).toBe(true);
    expect(connection.received().match(/^HTTP/gm)).toHaveLength(1);
  },
);

describe('HTTP/1.0', () => {
  it.each(['', 'Host: x\r\n'])('is answered and closed, with this Host line: "%s"', async (host) => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    connection.socket.write(`GET /v1/activities HTTP/1.0\r\n${host}Authorization: Bearer ${harness.keys.test}\r\n\r\n`);
    const [answer] = await connection.answers(1);
    expect(answer?.status).toBe(200);
    await expect.poll(connection.isClosed).toBe(true);
  });
});

describe('HEAD and OPTIONS outside the routes', () => {
  it('HEAD of an unknown path is 404 without a body, and the connection goes on', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    connection.socket.write(headOf(harness, 'HEAD /v1/nope') + headOf(harness, 'GET /v1/nope'));
    const [head, get] = await connection.answers(2, [0]);
    expect(head?.status).toBe(404);
    expect(head?.headers.get('request-id')).toMatch(/^req_/);
    await expectEnvelope(get ?? Response.error(), 404, 'route_not_found');
  });
});
