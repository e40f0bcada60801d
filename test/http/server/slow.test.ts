import { describe, expect, it } from 'vitest';
import { invoicePrefix } from '../../../src/domain/common/ids.js';
import { LIMITS, type ServerLimits } from '../../../src/http/server.js';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, type Harness, requestInit } from '../../support/harness/http.js';
import { type Connection, expectEnvelope, headOf, issueBytes, openConnection, start } from './connection.js';

const MIB = 1024 * 1024;

const SHORT: Partial<ServerLimits> = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 100 };

const hundredTimesFaster = ({
  headersTimeout,
  requestTimeout,
  connectionsCheckingInterval,
  timeout,
}: ServerLimits): Partial<ServerLimits> => ({
  headersTimeout: headersTimeout / 100,
  requestTimeout: requestTimeout / 100,
  connectionsCheckingInterval: connectionsCheckingInterval / 100,
  timeout: timeout / 100,
});

const expectClosed = async ({ isClosed }: Connection): Promise<void> => {
  await expect.poll(isClosed).toBe(true);
};

/** Every invoice of the log. */
const invoices = async ({ log }: Harness): Promise<number> =>
  (await log.readAll({ prefixes: Object.values(invoicePrefix), after: null, limit: 100 })).length;

describe('408 for a request that does not come whole in time', () => {
  it.each([
    ['nothing at all', ''],
    ['half a request line', 'GET /v1/acti'],
    ['headers without an end', 'GET /v1/activities HTTP/1.1\r\nHost: x\r\n'],
  ])('%s', async (_what, bytes) => {
    const connection = openConnection(await start(createHarness(), SHORT));
    connection.socket.write(bytes);
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 408, 'invalid_request');
    await expectClosed(connection);
  });

  it('a body that stops: nothing is issued, and it is no fault', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness, SHORT));
    connection.socket.write(issueBytes(harness, 500, { declared: 5_000 }));
    const [answer, more] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 408, 'invalid_request');
    await expectClosed(connection);
    expect(more).toBeUndefined();
    await expect.poll(() => harness.summaries.length).toBe(1);
    expect(harness.faults).toEqual([]);
    expect(await invoices(harness)).toBe(0);
  });

  it('a body that comes drop by drop: its time is the whole request’s, not the one between two drops', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness, SHORT));
    connection.socket.write(issueBytes(harness, 500, { declared: 1_000_000 }));
    const drops = setInterval(() => connection.socket.writable && connection.socket.write(' '), 20);
    const [answer] = await connection.answers(1).finally(() => clearInterval(drops));
    await expectEnvelope(answer ?? Response.error(), 408, 'invalid_request');
    await expectClosed(connection);
    expect(await invoices(harness)).toBe(0);
  });

  it('a chunked body that stops', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness, SHORT));
    const framing = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
    connection.socket.write(`${headOf(harness, 'POST /v1/nfse', framing)}5\r\n{"amo`);
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 408, 'invalid_request');
  });

  it('after the answers to the requests before it', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness, SHORT));
    connection.socket.write(headOf(harness, 'GET /v1/activities') + issueBytes(harness, 500, { declared: 5_000 }));
    const [first, second] = await connection.answers(2);
    expect(first?.status).toBe(200);
    await expectEnvelope(second ?? Response.error(), 408, 'invalid_request');
  });

  it('a client that never closes its side holds neither its connection nor the memory of its body', async () => {
    const harness = createHarness({ rateLimits: { write: 10_000, read: 1 } });
    const server = await start(harness, SHORT);
    const stuck = Array.from({ length: 6 }, () => openConnection(server, true));
    for (const { socket } of stuck) socket.write(issueBytes(harness, 500, { declared: 10 * MIB }));
    for (const connection of stuck) await connection.answers(1);
    let cents = 1_000;
    const largeBody = async (): Promise<number> => {
      cents += 1;
      const raw = JSON.stringify(issueBodyOf({ amount_in_cents: cents })).padEnd(10 * MIB, ' ');
      return (await harness.call('/v1/nfse', { raw })).status;
    };
    await expect.poll(largeBody).toBe(202);
    await server.close(60_000);
    expect(harness.faults).toEqual([]);
  });
});

describe('a client that reads nothing of its answers', () => {
  it('is cut, so that its connection is free for others', async () => {
    const harness = createHarness();
    const server = await start(harness, { timeout: 300, maxConnections: 1 });
    const stuck = openConnection(server);
    stuck.socket.pause();
    stuck.socket.write(headOf(harness, 'GET /docs/assets/redoc.standalone.js').repeat(9));
    await expect.poll(() => stuck.socket.connecting).toBe(false);
    const another = (): Promise<number> =>
      fetch(`${server.url}/v1/activities`, requestInit({}, harness.keys)).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(another).toBe(200);
  });
});

describe('an idle connection that had its answer', () => {
  it('is closed after the keep-alive time, without a word', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness, { keepAliveTimeout: 100 }));
    connection.socket.write(headOf(harness, 'GET /v1/activities'));
    await connection.answers(1);
    await expectClosed(connection);
    expect(await connection.answers(1)).toHaveLength(1);
  });
});

describe('the limits by default', () => {
  it('keep a connection without a request for longer than usual proxies do, of which Caddy keeps one for longest', () => {
    expect(LIMITS.keepAliveTimeout).toBeGreaterThan(120_000);
  });

  it('let a request that does not come in time be answered before its connection counts as idle', async () => {
    expect(LIMITS.timeout).toBeGreaterThan(LIMITS.requestTimeout + LIMITS.connectionsCheckingInterval);
    const harness = createHarness();
    const connection = openConnection(await start(harness, hundredTimesFaster(LIMITS)));
    connection.socket.write(issueBytes(harness, 500, { declared: 5_000 }));
    await expect.poll(connection.isClosed).toBe(true);
    const [answer] = await connection.answers(1);
    await expectEnvelope(answer ?? Response.error(), 408, 'invalid_request');
  });

  it('let 1,000 idle connections be, beside which requests are answered', async () => {
    const harness = createHarness({ rateLimits: { write: 1_000, read: 1_000 } });
    // The limits of time would end the idle connections while a busy machine still asks beside them.
    const server = await start(harness, { headersTimeout: 600_000, requestTimeout: 600_000, timeout: 600_000 });
    const idle = Array.from({ length: 1_000 }, () => openConnection(server));
    await expect.poll(() => idle.filter(({ socket }) => !socket.connecting).length).toBe(1_000);
    for (const { socket } of idle.slice(0, 500)) socket.write('GET /v1/activities HTTP/1.1\r\n');
    for (let n = 0; n < 50; n += 1) {
      const read = await fetch(`${server.url}/v1/activities`, requestInit({}, harness.keys));
      const json = issueBodyOf({ amount_in_cents: 1_000 + n });
      const written = await fetch(`${server.url}/v1/nfse`, requestInit({ json }, harness.keys));
      expect([read.status, written.status]).toEqual([200, 202]);
      await Promise.all([read.text(), written.text()]);
    }
    expect(idle.filter(({ isClosed }) => isClosed())).toEqual([]);
  });
});
