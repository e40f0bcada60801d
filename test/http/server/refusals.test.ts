import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RequestSummary } from '../../../src/http/deps.js';
import { inHandOf } from '../../../src/http/in-hand.js';
import type { ServerOptions } from '../../../src/http/server.js';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, type Harness, requestInit } from '../../support/harness/http.js';
import { type Connection, headOf, issueBytes, openConnection, start } from './connection.js';

const CHUNKED = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
const SOON: ServerOptions = { headersTimeout: 200, requestTimeout: 300, connectionsCheckingInterval: 100 };

/** A server that collects the summaries of the refusals that the app did not give. */
const collecting = async (harness: Harness, options: ServerOptions = {}) => {
  const refused: RequestSummary[] = [];
  const server = await start(harness, { ...options, onRefused: (summary) => refused.push(summary) });
  return { server, refused };
};

/** Of every such answer, whether Node has a response object for the request or the bytes go to the socket. */
const HEADERS = [
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'request-id',
  'x-content-type-options',
];

/** Of a request with too many headers: newer versions of Node refuse it in the parser, before its method is known. */
const OF_TOO_MANY = expect.stringMatching(/^(?:GET|unread)$/);

const requestIdOf = async ({ answers }: Connection, nth = 1): Promise<string | null | undefined> =>
  (await answers(nth)).at(-1)?.headers.get('request-id');

describe('a refusal that the app does not give is reported with the Request-Id of the answer', () => {
  const host = 'Host: x\r\n\r\n';
  it.each<[string, string, string, number, string]>([
    ['no Host', 'GET /x HTTP/1.1\r\n\r\n', 'GET', 400, 'invalid_request'],
    ['two Hosts', `GET /x HTTP/1.1\r\nHost: y\r\n${host}`, 'GET', 400, 'invalid_request'],
    ['a Host without a port', 'GET /x HTTP/1.1\r\nHost: a:\r\n\r\n', 'GET', 400, 'invalid_request'],
    ['an absolute form with a bad port', `POST http://a:x/ HTTP/1.1\r\n${host}`, 'POST', 400, 'invalid_request'],
    ['a version that does not exist', `GET /x HTTP/7.5\r\n${host}`, 'unread', 400, 'invalid_request'],
    ['too much header', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${host}`, 'unread', 431, 'invalid_request'],
    ['too many headers', `GET /x HTTP/1.1\r\n${'a:b\r\n'.repeat(2_001)}${host}`, OF_TOO_MANY, 431, 'invalid_request'],
    ['an unknown expectation', `PUT /x HTTP/1.1\r\nExpect: y\r\n${host}`, 'PUT', 417, 'invalid_request'],
    ['an unknown method', `FOO /x HTTP/1.1\r\n${host}`, 'unread', 404, 'route_not_found'],
    ['CONNECT', `CONNECT x:1 HTTP/1.1\r\n${host}`, 'CONNECT', 404, 'route_not_found'],
    ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${host}`, 'OPTIONS', 404, 'route_not_found'],
    ['half a head', 'GET /x HTTP/1.1\r\n', 'unread', 408, 'invalid_request'],
  ])('%s', async (_what, bytes, method, status, code) => {
    const harness = createHarness();
    const { server, refused } = await collecting(harness, SOON);
    const connection = openConnection(server);
    connection.socket.write(status === 408 ? bytes : bytes.repeat(3));
    const requestId = await requestIdOf(connection);
    const [answer = Response.error()] = await connection.answers(1);
    expect([...answer.headers.keys()]).toEqual(HEADERS);
    expect(Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now())).toBeLessThan(60_000);
    await expect.poll(connection.isClosed).toBe(true);
    expect(refused).toEqual([
      { route: 'unmatched', method, status, code, requestId, peer: '127.0.0.1', durationMs: expect.any(Number) },
    ]);
    expect(harness.summaries).toEqual([]);
  });

  it('also of the eleventh request that waits, after the reports of those before it', async () => {
    const harness = createHarness({ rateLimits: { write: 60, read: 10_000 } });
    const { server, refused } = await collecting(harness);
    const connection = openConnection(server);
    connection.socket.write(headOf(harness, 'GET /v1/activities').repeat(200));
    const requestId = await requestIdOf(connection, 11);
    await expect.poll(connection.isClosed).toBe(true);
    expect(refused).toMatchObject([{ status: 400, code: 'invalid_request', requestId }]);
    expect(harness.summaries).toHaveLength(10);
  });

  it('and a report that fails is a fault, while the answer leaves', async () => {
    const faults: unknown[] = [];
    const server = await start(createHarness(), {
      onRefused: () => {
        throw new Error('no room');
      },
      onFault: (error) => faults.push(error),
    });
    for (const bytes of ['GET /x HTTP/1.1\r\n\r\n', 'FOO /x HTTP/1.1\r\n\r\n']) {
      const connection = openConnection(server);
      connection.socket.write(bytes);
      expect(await requestIdOf(connection)).toMatch(/^req_/);
    }
    expect(faults).toHaveLength(2);
  });
});

describe('a request whose body breaks is reported once, as it was answered', () => {
  it.each<[string, (harness: Harness) => string, boolean, number]>([
    ['a chunk that is none', (harness) => `${headOf(harness, 'POST /v1/nfse', CHUNKED)}5\r\nabcde\r\nx`, false, 400],
    ['the end of the client’s side', (harness) => issueBytes(harness, 500, { declared: 5_000 }), true, 400],
    ['silence', (harness) => issueBytes(harness, 500, { declared: 5_000 }), false, 408],
    ['silence in a large body', (harness) => issueBytes(harness, 500, { declared: 500_000 }), false, 408],
  ])('%s', async (_what, bytes, ends, status) => {
    const harness = createHarness();
    const { server, refused } = await collecting(harness, SOON);
    const connection = openConnection(server, true);
    connection.socket.write(bytes(harness));
    await expect.poll(() => connection.socket.bytesWritten).toBeGreaterThan(0);
    if (ends) connection.socket.end();
    const [answer] = await connection.answers(1);
    expect(answer?.status).toBe(status);
    const requestId = answer?.headers.get('request-id');
    await expect.poll(() => harness.summaries.length).toBe(1);
    const route = '/v1/nfse';
    expect(harness.summaries).toMatchObject([{ route, method: 'POST', status, code: 'invalid_request', requestId }]);
    expect(refused).toEqual([]);
    expect(harness.faults).toEqual([]);
  });

  it('also while its refusal waits for the pace of its caller', async () => {
    let hold = (): void => {};
    const paced = new Promise<void>((resolve) => {
      hold = resolve;
    });
    let waiting = 0;
    const refusals = (): Promise<void> => {
      waiting += 1;
      return paced;
    };
    const harness = createHarness({ pacing: { refusals, pages: () => undefined } });
    const { server } = await collecting(harness);
    const connection = openConnection(server);
    connection.socket.write(`POST /v1/nfse HTTP/1.1\r\nHost: x\r\n${CHUNKED}\r\n5\r\nabcde\r\n`);
    await expect.poll(() => waiting).toBe(1);
    connection.socket.write('x');
    const requestId = await requestIdOf(connection);
    hold();
    await expect.poll(() => harness.summaries.length).toBe(1);
    expect(harness.summaries).toMatchObject([{ status: 400, code: 'invalid_request', requestId }]);
  });

  it('and when the app never began with it, as the refusal of the server', async () => {
    const harness = createHarness();
    const { server, refused } = await collecting(harness, SOON);
    const connection = openConnection(server);
    connection.socket.write(`${headOf(harness, 'GET /v1/activities')}${headOf(harness, 'POST /v1/nfse', CHUNKED)}x`);
    const requestId = await requestIdOf(connection, 2);
    await expect.poll(connection.isClosed).toBe(true);
    expect(refused).toMatchObject([{ route: 'unmatched', method: 'POST', status: 400, requestId }]);
    expect(harness.summaries.map(({ status }) => status)).toEqual([200]);
  });
});

it('a request that the server has refused is not executed when the rest of its body comes after all', async () => {
  const harness = createHarness();
  const request = new IncomingMessage(new Socket());
  const issuing = harness.app.request('/v1/nfse', requestInit({ json: {} }, harness.keys), { incoming: request });
  const inHand = inHandOf(request);
  if (inHand === undefined) throw new Error('the app did not take the request in hand');
  inHand.refused = { status: 408, code: 'invalid_request' };
  request.push(JSON.stringify(issueBodyOf()));
  request.push(null);
  expect((await issuing).status).toBe(400);
  expect(harness.summaries).toMatchObject([{ status: 408, code: 'invalid_request', requestId: inHand.requestId }]);
  expect((await harness.log.readAll({ prefixes: [''], after: null, limit: 9 })).length).toBe(0);
});
