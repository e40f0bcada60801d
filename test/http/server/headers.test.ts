import { describe, expect, it } from 'vitest';
import { MAX_HEADERS } from '../../../src/http/raw-answer.js';
import { createHarness } from '../../support/harness/http.js';
import { exchange, expectEnvelope, headOf, issueBytes, openConnection, start } from './connection.js';

const GET = 'GET /v1/activities';

describe('431 for headers that are too many or too long', () => {
  it.each([
    ['one of 20 KB', `X: ${'x'.repeat(20_000)}\r\n`],
    ['many that are 20 KB together', 'X-Some: 0123456789\r\n'.repeat(1_300)],
    ['a query string of 20 KB', ''],
  ])('%s', async (what, headers) => {
    const harness = createHarness();
    const line = what.startsWith('a query') ? `${GET}?${'x'.repeat(20_000)}` : GET;
    await expectEnvelope(await exchange(await start(harness), headOf(harness, line, headers)), 431, 'invalid_request');
  });

  it('a megabyte of them that keeps coming, without a reset before the answer is read', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    connection.socket.write(`${GET} HTTP/1.1\r\n`);
    for (let n = 0; n < 64; n += 1) connection.socket.write('X-Some: 0123456789\r\n'.repeat(800));
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 431, 'invalid_request');
  });

  it('more than Node keeps, however short: none is dropped in silence', async () => {
    const harness = createHarness();
    const server = await start(harness);
    // Host and Authorization are two more.
    const withMore = (count: number): string => headOf(harness, GET, 'a:\r\n'.repeat(count - 2));
    expect((await exchange(server, withMore(150))).status).toBe(200);
    expect((await exchange(server, withMore(MAX_HEADERS))).status).toBe(200);
    for (const count of [MAX_HEADERS + 1, 5_000])
      await expectEnvelope(await exchange(server, withMore(count)), 431, 'invalid_request');
  });
});

describe('400 for a header that is none', () => {
  it.each([
    ['NUL in a value', 'X: a\0b\r\n'],
    ['a bare CR in a value', 'X: a\rb\r\n'],
    ['CR LF and no header after it', 'X: a\r\nb\r\n'],
    ['a folded line', 'X: a\r\n b\r\n'],
    ['a space in a name', 'X Y: a\r\n'],
    ['a space before the colon', 'X : a\r\n'],
    ['no name', ': a\r\n'],
  ])('%s', async (_what, line) => {
    const harness = createHarness();
    const answer = await exchange(await start(harness), headOf(harness, GET, line));
    await expectEnvelope(answer, 400, 'invalid_request');
  });

  it('no Host header in HTTP/1.1', async () => {
    const answer = await exchange(await start(createHarness()), `${GET} HTTP/1.1\r\n\r\n`);
    await expectEnvelope(answer, 400, 'invalid_request');
  });
});

describe('duplicate headers', () => {
  it.each(['Host: x\r\n', 'Host: y\r\n', 'hOST:\r\n'])(
    'two Host headers: 400, whatever the second is: %j',
    async (line) => {
      const harness = createHarness();
      const answer = await exchange(await start(harness), headOf(harness, GET, line));
      await expectEnvelope(answer, 400, 'invalid_request');
      expect(harness.summaries).toEqual([]);
    },
  );

  it('two credentials are none, also when they are the same or the first alone is good', async () => {
    const harness = createHarness();
    const server = await start(harness);
    for (const second of [`Bearer ${harness.keys.test}`, `Bearer ${harness.keys.live}`, 'Bearer x', '']) {
      const bytes = headOf(harness, GET, `Authorization: ${second}\r\n`);
      await expectEnvelope(await exchange(server, bytes), 401, 'unauthorized');
    }
  });

  it.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n'],
    ['the same length twice', 'Content-Length: 2\r\nContent-Length: 2\r\n'],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n'],
    ['a list of lengths', 'Content-Length: 2, 2\r\n'],
    ['a negative length', 'Content-Length: -2\r\n'],
    ['a length beyond 64 bits', 'Content-Length: 99999999999999999999999\r\n'],
    ['chunks twice, then not', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
  ])('%s: 400, and what follows is no second request', async (_what, framing) => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    const head = headOf(harness, 'POST /v1/nfse', `Content-Type: application/json\r\n${framing}`);
    connection.socket.write(`${head}{}${headOf(harness, GET)}`);
    await expect.poll(connection.isClosed).toBe(true);
    const [answer, ...more] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 400, 'invalid_request');
    expect(more).toEqual([]);
  });

  it.each([
    ['a', 'b'],
    ['a', 'a'],
    ['a', ''],
    ['', 'a'],
    ['', ''],
  ])('two Idempotency-Keys are refused by name: %j and %j', async (first, second) => {
    const harness = createHarness();
    const headers = `Idempotency-Key: ${first}\r\nidempotency-key: ${second}\r\n`;
    const answer = await exchange(await start(harness), issueBytes(harness, 500, { headers }));
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', param: 'Idempotency-Key' } });
  });

  it('names of JavaScript’s own are headers like others', async () => {
    const harness = createHarness();
    const bytes = headOf(harness, GET, '__proto__: a\r\nconstructor: b\r\ntoString: c\r\n');
    expect((await exchange(await start(harness), bytes)).status).toBe(200);
  });
});

describe('Expect', () => {
  it('100-continue gets its go-ahead, then the answer', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    const whole = issueBytes(harness, 500, { headers: 'Expect: 100-continue\r\n' });
    const bodyAt = whole.indexOf('\r\n\r\n') + 4;
    connection.socket.write(whole.slice(0, bodyAt));
    await expect.poll(connection.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    connection.socket.write(whole.slice(bodyAt));
    expect((await connection.answers(1))[0]?.status).toBe(202);
  });

  it('417 for anything else', async () => {
    const harness = createHarness();
    const answer = await exchange(await start(harness), issueBytes(harness, 500, { headers: 'Expect: tea\r\n' }));
    await expectEnvelope(answer, 417, 'invalid_request');
    expect(harness.summaries).toEqual([]);
  });
});

describe('Upgrade', () => {
  it.each([
    [
      'websocket',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AA==\r\n',
    ],
    ['h2c', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n'],
  ])('to %s is not offered: the request is answered in HTTP/1.1 and the connection goes on', async (_what, headers) => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    const requests = [headOf(harness, GET, headers), issueBytes(harness, 500, { headers }), headOf(harness, GET)];
    // One by one: what comes in the same packet as a request to upgrade is not HTTP/1.1 to Node.
    for (const [index, request] of requests.entries()) {
      connection.socket.write(request);
      await connection.answers(index + 1);
    }
    expect((await connection.answers(3)).map(({ status }) => status)).toEqual([200, 202, 200]);
    expect(connection.received()).not.toContain('101 Switching');
  });
});
