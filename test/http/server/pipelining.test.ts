import { describe, expect, it } from 'vitest';
import { gate } from '../../support/gate.js';
import { createHarness, EngineDown, type Harness, issuedInvoice, PDF } from '../../support/harness/http.js';
import { expectEnvelope, headOf, issueBytes, openConnection, start } from './connection.js';

const GET = 'GET /v1/activities';

/** A harness whose activities are answered only after `release`. */
const held = () => {
  const { opened, open: release } = gate();
  let reached = 0;
  const harness = createHarness({
    activities: async () => {
      reached += 1;
      await opened;
      return [];
    },
  });
  const isReached = async (times: number): Promise<void> => {
    await expect.poll(() => reached).toBe(times);
  };
  return { harness, isReached, release };
};

describe('several requests on one connection', () => {
  it('are answered in the order in which they came, each after the answer before it', async () => {
    const { harness, isReached, release } = held();
    const connection = openConnection(await start(harness));
    const id = await issuedInvoice(harness);
    connection.socket.write(
      headOf(harness, GET) +
        headOf(harness, 'GET /v1/nope') +
        issueBytes(harness, 500) +
        headOf(harness, `HEAD /v1/nfse/${id}/pdf`) +
        headOf(harness, `GET /v1/nfse/${id}/pdf`),
    );
    await isReached(1);
    expect([connection.received(), harness.summaries.length]).toEqual(['', 1]);
    release();
    const answers = await connection.answers(5, [3]);
    expect(harness.summaries).toHaveLength(6);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 202, 200, 200]);
    expect(Buffer.from((await answers[4]?.arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(PDF);
    expect(new Set(answers.map(({ headers }) => headers.get('request-id'))).size).toBe(5);
  });

  it('ten at once', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    const ways = [headOf(harness, GET), headOf(harness, 'GET /v1/nope')];
    connection.socket.write(Array.from({ length: 10 }, (_, n) => ways[n % 2]).join(''));
    const statuses = (await connection.answers(10)).map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? 200 : 404)));
  });

  it('a body that nobody reads is no request: what follows it is', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    const smuggled = headOf(harness, 'GET /v1/smuggled');
    const head = headOf(harness, GET, `Content-Length: ${smuggled.length}\r\n`);
    const unread = headOf(
      { keys: { ...harness.keys, test: 'x' } },
      'POST /v1/nfse',
      `Content-Length: ${smuggled.length}\r\n`,
    );
    connection.socket.write(head + smuggled + unread + smuggled + headOf(harness, GET));
    expect((await connection.answers(3)).map(({ status }) => status)).toEqual([200, 401, 200]);
    expect(harness.summaries).toHaveLength(3);
  });
});

const CHUNKED = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';

describe('a request after an answer that ended the connection is not executed, because it can get no answer', () => {
  it('in the packet of the request before it', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    connection.socket.write(issueBytes(harness, 500, { headers: 'Expect: x\r\n' }) + issueBytes(harness, 600));
    await expectEnvelope((await connection.answers(1))[0] ?? Response.error(), 417, 'invalid_request');
    await expect.poll(connection.isClosed).toBe(true);
    expect(harness.summaries).toEqual([]);
  });

  it('after the rest of a body that nobody read', async () => {
    const harness = createHarness();
    // A client that goes on sending after the server has ended its side.
    const connection = openConnection(await start(harness), true);
    connection.socket.write(headOf(harness, 'POST /v1/nope', 'Content-Length: 4\r\n'));
    await expectEnvelope((await connection.answers(1))[0] ?? Response.error(), 404, 'route_not_found');
    connection.socket.write(`rest${issueBytes(harness, 600)}`);
    // Such a client sees the end of the connection when it sends more.
    await expect
      .poll(() => {
        connection.socket.write('x');
        return connection.isClosed();
      })
      .toBe(true);
    expect(harness.summaries.map(({ status }) => status)).toEqual([404]);
  });
});

describe('what is no HTTP after a good request', () => {
  it.each([
    ['nonsense', () => 'NONSENSE\r\n\r\n', 400, 'invalid_request'],
    ['an unknown method', () => 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'route_not_found'],
    ['a tunnel', () => 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'route_not_found'],
    [
      'a broken chunk',
      (harness: Harness) => `${headOf(harness, 'POST /v1/nfse', CHUNKED)}ZZ\r\n`,
      400,
      'invalid_request',
    ],
  ])('%s: the good one keeps its answer', async (_what, bytesOf, status, code) => {
    const { harness, isReached, release } = held();
    const connection = openConnection(await start(harness));
    connection.socket.write(headOf(harness, GET) + bytesOf(harness));
    // Both requests are in one packet, so that the fault of the second is known when the first is answered.
    await isReached(1);
    release();
    const [good, bad] = await connection.answers(2);
    expect(good?.status).toBe(200);
    await expectEnvelope(bad ?? Response.error(), status, code);
    await expect.poll(connection.isClosed).toBe(true);
  });
});

describe('clients that go away', () => {
  it('before their answer: no fault, and the next client is served', async () => {
    const { harness, isReached, release } = held();
    const server = await start(harness);
    const leaving = Array.from({ length: 20 }, () => openConnection(server));
    for (const { socket } of leaving) socket.write(headOf(harness, GET));
    await isReached(leaving.length);
    for (const { socket } of leaving) socket.resetAndDestroy();
    await expect.poll(() => leaving.every(({ isClosed }) => isClosed())).toBe(true);
    release();
    const next = openConnection(server);
    next.socket.write(headOf(harness, GET));
    expect((await next.answers(1))[0]?.status).toBe(200);
    expect(harness.faults).toEqual([]);
  });

  it('in the middle of a header, of a body and of a chunk', async () => {
    const harness = createHarness();
    const server = await start(harness);
    const parts = [
      'POST /v1/nfse HTTP/1.1\r\nHo',
      issueBytes(harness, 500, { declared: 5_000 }),
      `${headOf(harness, 'POST /v1/nfse', CHUNKED)}5\r\n{"a`,
    ];
    for (const part of parts)
      for (const leave of ['destroy', 'resetAndDestroy', 'end'] as const) {
        const { socket, isClosed } = openConnection(server);
        await new Promise<void>((resolve) => socket.write(part, () => resolve()));
        socket[leave]();
        await expect.poll(isClosed).toBe(true);
      }
    const next = openConnection(server);
    next.socket.write(issueBytes(harness, 700));
    expect((await next.answers(1))[0]?.status).toBe(202);
    expect(harness.faults).toEqual([]);
    expect(harness.summaries.filter(({ status }) => status >= 500)).toEqual([]);
  });
});

describe('a fault over a real connection', () => {
  it.each([
    [new Error('connect ECONNREFUSED 10.0.0.1 password=hunter2'), 500, 'internal_error'],
    [new EngineDown('password=hunter2'), 503, 'service_unavailable'],
  ])('%s shows nothing of itself, and the connection goes on', async (error, status, code) => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    harness.state.beforeUse = () => {
      throw error;
    };
    connection.socket.write(headOf(harness, GET));
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), status, code);
    expect(connection.received()).not.toContain('hunter2');
    harness.state.beforeUse = () => {};
    connection.socket.write(headOf(harness, GET));
    expect((await connection.answers(2))[1]?.status).toBe(200);
  });
});
