import { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { gate } from '../../support/gate.js';
import { createHarness, type Harness } from '../../support/harness/http.js';
import { type Connection, expectEnvelope, headOf, issueBytes, openConnection, start } from './connection.js';

const MIB = 1024 * 1024;
const CHUNKED = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';

const unknownKey = ({ keys }: Harness) => ({ keys: { ...keys, test: `${keys.test.slice(0, -1)}?` } });
const inChunks = (bytes: number, size: number): string =>
  `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`.repeat(bytes / size);

afterEach(() => vi.restoreAllMocks());

/** Less than the time limit for the head of a request, which would end the connection too. */
const ENDED_WITHIN_MS = 12_000;

const ended = async ({ isClosed }: Connection): Promise<void> => {
  await expect.poll(isClosed, { timeout: ENDED_WITHIN_MS }).toBe(true);
};

describe('an answer that leaves a body unread', () => {
  it.each([
    ['chunked', `Transfer-Encoding: chunked\r\n`, '5\r\nabcde\r\n'],
    ['declared', `Content-Length: ${MIB}\r\n`, 'abcde'],
  ])('ends the connection: %s', async (_what, framing, begun) => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    connection.socket.write(headOf(unknownKey(harness), 'POST /v1/nfse', framing) + begun);
    const [answer] = await connection.answers(1);
    expect(answer?.headers.get('connection')).toBe('close');
    await expectEnvelope(answer ?? Response.error(), 401, 'unauthorized');
    await ended(connection);
  });

  it.each([
    ['an unknown key', 'POST /v1/nfse', 401, 'unauthorized'],
    ['no such route', 'POST /x', 404, 'route_not_found'],
  ])('of a million chunks works through a few packets at most: %s', async (_what, line, status, code) => {
    const push = vi.spyOn(IncomingMessage.prototype, 'push');
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    connection.socket.write(headOf(unknownKey(harness), line, CHUNKED) + inChunks(MIB, 1));
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), status, code);
    await ended(connection);
    expect(push.mock.calls.length).toBeLessThan(1_100);
  });

  it('is read by a client that goes on sending', async () => {
    const harness = createHarness();
    const { url } = await start(harness);
    const body = Buffer.alloc(8 * MIB, ' ');
    for (let n = 0; n < 5; n += 1) {
      const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
      const answer = await fetch(`${url}/v1/nfse`, { method: 'POST', headers, body });
      await expectEnvelope(answer, 401, 'unauthorized');
    }
  });
});

describe('a body in tiny chunks', () => {
  it('is refused after a few packets, and the connection ends', async () => {
    const push = vi.spyOn(IncomingMessage.prototype, 'push');
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    connection.socket.write(headOf(harness, 'POST /v1/nfse', CHUNKED) + inChunks(MIB, 1));
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 400, 'invalid_request');
    await ended(connection);
    expect(push.mock.calls.length).toBeLessThan(1_100);
    expect(harness.faults).toEqual([]);
  });

  it('leaves the parsers of Node as they were for later connections', async () => {
    const harness = createHarness();
    const server = await start(harness);
    for (let round = 0; round < 5; round += 1) {
      const refused = openConnection(server);
      refused.socket.write(headOf(harness, 'POST /v1/nfse', CHUNKED) + inChunks(MIB, 1));
      await expectEnvelope((await refused.answers(1))[0] ?? Response.error(), 400, 'invalid_request');
      await ended(refused);
      const next = openConnection(server);
      next.socket.write(`${headOf(harness, 'POST /v1/nfse', CHUNKED)}${inChunks(640, 64)}0\r\n\r\n`);
      await expectEnvelope((await next.answers(1))[0] ?? Response.error(), 400, 'malformed_json');
      next.socket.destroy();
    }
  });

  it('before a CONNECT takes no other client the body of its request', async () => {
    const { opened, open: release } = gate();
    const activities = vi.fn(async () => {
      await opened;
      return [];
    });
    const harness = createHarness({ activities });
    const server = await start(harness);
    const hostile = openConnection(server);
    const chunks = `${inChunks(3_000, 1)}0\r\n\r\n`;
    const [slow, chunked] = [headOf(harness, 'GET /v1/activities'), headOf(harness, 'POST /v1/nope', CHUNKED) + chunks];
    hostile.socket.write(slow + chunked + headOf(harness, 'CONNECT x:1'));
    await expect.poll(() => activities.mock.calls.length).toBe(1);
    // At a CONNECT Node takes its parser from the connection, which is still open, and gives the parser to the next one.
    const next = openConnection(server);
    next.socket.write(issueBytes(harness, 500));
    const [answer] = await next.answers(1);
    release();
    expect(answer?.status).toBe(202);
    expect((await hostile.answers(3)).map(({ status }) => status)).toEqual([200, 404, 404]);
    await ended(hostile);
  });

  it.each([
    ['in the same packet', true],
    ['after its answer', false],
  ])('takes no later request on its connection the body: %s', async (_what, isPipelined) => {
    const { opened, open: release } = gate();
    const activities = vi.fn(async () => {
      await opened;
      return [];
    });
    const harness = createHarness({ activities });
    const connection = openConnection(await start(harness));
    // The whole body is here before its answer begins, so that the connection goes on.
    const chunked = `${headOf(harness, 'POST /v1/nope', CHUNKED)}${inChunks(3_000, 1)}0\r\n\r\n`;
    const next = issueBytes(harness, 500);
    connection.socket.write(headOf(harness, 'GET /v1/activities') + chunked + (isPipelined ? next : ''));
    await expect.poll(() => activities.mock.calls.length).toBe(1);
    release();
    expect((await connection.answers(2))[1]?.status).toBe(404);
    if (!isPipelined) connection.socket.write(next);
    expect((await connection.answers(3))[2]?.status).toBe(202);
  });

  it('again and again leaves no listener on its connection', async () => {
    const warned = vi.spyOn(process, 'emitWarning');
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    const ROUNDS = 12;
    for (let round = 1; round <= ROUNDS; round += 1) {
      // In one packet with a request before it, so that the whole body is here before its answer begins and the connection goes on.
      const chunked = `${headOf(harness, 'POST /v1/nope', CHUNKED)}${inChunks(3_000, 1)}0\r\n\r\n`;
      connection.socket.write(headOf(harness, 'GET /v1/activities') + chunked);
      expect((await connection.answers(2 * round)).slice(-1)[0]?.status).toBe(404);
    }
    expect(warned).not.toHaveBeenCalled();
  });

  it.each([
    [1_000, 1],
    [MIB, 64],
  ])('%i bytes in chunks of %i are read to their end', async (bytes, size) => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    connection.socket.write(`${headOf(harness, 'POST /v1/nfse', CHUNKED)}${inChunks(bytes, size)}0\r\n\r\n`);
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 400, 'malformed_json');
    connection.socket.write(headOf(harness, 'GET /v1/activities'));
    expect((await connection.answers(2))[1]?.status).toBe(200);
  });
});

describe('a Host that is none', () => {
  it.each(['\xfc\xfc/docs?', 'x/docs', 'x?y', 'x#y', 'a@b', 'a b'])('%j: 400', async (host) => {
    const connection = openConnection(await start(createHarness()));
    connection.socket.write(Buffer.from(`GET /v1/activities HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'latin1'));
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 400, 'invalid_request');
  });

  it.each(['localhost:3000', '[::1]:3000', '127.0.0.1', 'api_1.example-host.com'])('%j is one', async (host) => {
    const connection = openConnection(await start(createHarness()));
    connection.socket.write(`GET /v1/activities HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect((await connection.answers(1))[0]?.status).toBe(401);
  });
});
