import { expect, it } from 'vitest';
import type { HttpDeps } from '../../src/http/deps.js';
import type { ServerOptions } from '../../src/http/server.js';
import { createHarness, EngineDown, type Harness } from '../support/harness/http.js';
import { type Connection, headOf, openConnection, start } from './server/connection.js';

const MOST = 3;

/** A server that keeps three connections; `drops` counts those that the limit closed. */
const bounded = async (overrides: Partial<HttpDeps> = {}, options: ServerOptions = {}) => {
  const harness = createHarness(overrides);
  let drops = 0;
  const onDrop = (): void => {
    drops += 1;
  };
  const server = await start(harness, { maxConnections: MOST, onDrop, ...options });
  const openNext = async (): Promise<Connection> => {
    const connection = openConnection(server);
    await expect.poll(() => connection.socket.connecting).toBe(false);
    return connection;
  };
  return { harness, openNext, drops: () => drops };
};

const askOn = async ({ socket, answers }: Connection, harness: Harness): Promise<number | undefined> => {
  socket.write(headOf(harness, 'GET /v1/activities'));
  return (await answers(1))[0]?.status;
};

it('silent connections give way to a client, the oldest first', async () => {
  const { harness, openNext, drops } = await bounded();
  const silent = [await openNext(), await openNext(), await openNext()];
  silent[0]?.socket.write('GET /v1/activities HTTP/1.1\r\nHost: half a head');
  expect(await askOn(await openNext(), harness)).toBe(200);
  await expect.poll(() => silent.map(({ isClosed }) => isClosed())).toEqual([true, false, false]);
  expect([silent[0]?.received(), drops()]).toEqual(['', 1]);
});

it('a connection that had its answer waits from then on', async () => {
  const { harness, openNext } = await bounded();
  const [first, second, third] = [await openNext(), await openNext(), await openNext()];
  expect(await askOn(first, harness)).toBe(200);
  expect(await askOn(await openNext(), harness)).toBe(200);
  await expect.poll(second.isClosed).toBe(true);
  expect([first.isClosed(), third.isClosed()]).toEqual([false, false]);
});

it('a connection that ended makes room', async () => {
  const { harness, openNext, drops } = await bounded();
  const silent = [await openNext(), await openNext(), await openNext()];
  expect(await askOn(await openNext(), harness)).toBe(200);
  await expect.poll(silent[0]?.isClosed ?? (() => false)).toBe(true);
  silent[1]?.socket.destroy();
  await expect.poll(silent[1]?.isClosed ?? (() => false)).toBe(true);
  // The server sees the end of a connection before the next connection.
  expect(await askOn(await openNext(), harness)).toBe(200);
  expect([silent[2]?.isClosed(), drops()]).toEqual([false, 1]);
});

it('a connection with a second request under way does not wait', async () => {
  const { harness, openNext } = await bounded();
  const busy = await openNext();
  const [first, second] = [await openNext(), await openNext()];
  const rest = 'Content-Type: application/json\r\nContent-Length: 2\r\n';
  busy.socket.write(headOf(harness, 'GET /v1/activities') + headOf(harness, 'POST /v1/nfse', rest));
  expect((await busy.answers(1))[0]?.status).toBe(200);
  expect(await askOn(await openNext(), harness)).toBe(200);
  await expect.poll(first.isClosed).toBe(true);
  expect(await askOn(await openNext(), harness)).toBe(200);
  await expect.poll(second.isClosed).toBe(true);
  busy.socket.write('{}');
  expect((await busy.answers(2))[1]?.status).toBe(400);
});

it('requests that the service works on keep their connections, and a new connection is closed unread', async () => {
  let finish = (): void => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let working = 0;
  const activities = async () => {
    working += 1;
    await held;
    return [];
  };
  const { harness, openNext, drops } = await bounded({ activities });
  const busy = [await openNext(), await openNext(), await openNext()];
  for (const { socket } of busy) socket.write(headOf(harness, 'GET /v1/activities'));
  await expect.poll(() => working).toBe(MOST);
  const late = await openNext();
  await expect.poll(late.isClosed).toBe(true);
  expect([late.received(), drops(), busy.some(({ isClosed }) => isClosed())]).toEqual(['', 1, false]);
  finish();
  for (const { answers } of busy) expect((await answers(1))[0]?.status).toBe(200);
});

const BODY = 'Content-Type: application/json\r\nContent-Length: 2\r\n';

it('bodies that do not come give way to a client, the oldest first, and nothing of them is executed', async () => {
  const { harness, openNext, drops } = await bounded();
  const slow = [await openNext(), await openNext(), await openNext()];
  for (const { socket, received } of slow) {
    socket.write(headOf(harness, 'POST /v1/nfse', `${BODY}Expect: 100-continue\r\n`));
    await expect.poll(received).toContain('100 Continue');
  }
  expect(await askOn(await openNext(), harness)).toBe(200);
  await expect.poll(() => slow.map(({ isClosed }) => isClosed())).toEqual([true, false, false]);
  await expect.poll(() => harness.summaries.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 400]));
  expect(drops()).toBe(1);
  slow[1]?.socket.write('{}');
  expect((await slow[1]?.answers(1))?.[0]?.status).toBe(400);
});

it('a client that has just connected does not give way before older bodies that do not come', async () => {
  const { harness, openNext } = await bounded();
  const slow = [await openNext(), await openNext(), await openNext()];
  for (const { socket, received } of slow) {
    socket.write(headOf(harness, 'POST /v1/nfse', `${BODY}Expect: 100-continue\r\n`));
    await expect.poll(received).toContain('100 Continue');
  }
  const client = await openNext();
  await openNext();
  await expect.poll(() => slow.map(({ isClosed }) => isClosed())).toEqual([true, true, false]);
  expect(await askOn(client, harness)).toBe(200);
});

it('a request that comes slowly ends while other connections have had none for a while', async () => {
  let nowMs = 0;
  const { harness, openNext } = await bounded({}, { nowMs: () => nowMs });
  const slow = await openNext();
  slow.socket.write(headOf(harness, 'POST /v1/nfse', `${BODY}Expect: 100-continue\r\n`));
  await expect.poll(slow.received).toContain('100 Continue');
  nowMs = 1_000;
  const [kept, other] = [await openNext(), await openNext()];
  expect(await askOn(kept, harness)).toBe(200);
  nowMs = 6_000;
  expect(await askOn(await openNext(), harness)).toBe(200);
  expect(await askOn(await openNext(), harness)).toBe(200);
  await expect.poll(() => [slow, kept, other].map(({ isClosed }) => isClosed())).toEqual([false, true, true]);
  slow.socket.write('{}');
  expect((await slow.answers(1))[0]?.status).toBe(400);
});

it('answers that their clients do not take give way to a client', async () => {
  const bytes = Buffer.alloc(16 * 1024 * 1024);
  const { harness, openNext } = await bounded({ downloadXml: async () => ({ bytes }) });
  const path = '/v1/nfse/00000000-0000-4000-8000-000000000000/xml';
  for (const { socket } of [await openNext(), await openNext(), await openNext()]) {
    socket.pause();
    socket.write(headOf(harness, `GET ${path}`));
  }
  await expect.poll(() => harness.summaries.length).toBe(MOST);
  await expect
    .poll(async () => {
      const client = await openNext();
      client.socket.write(headOf(harness, 'GET /v1/activities'));
      await expect.poll(() => client.isClosed() || client.received() !== '').toBe(true);
      return client.received();
    })
    .toContain('200 OK');
});

it('a refusal that waits for its turn gives way to a client, with the requests behind it', async () => {
  let waiting = 0;
  const hold = () => {
    waiting += 1;
    return new Promise<void>(() => {});
  };
  const { harness, openNext } = await bounded({ pacing: { refusals: hold, pages: hold } });
  const refused = [await openNext(), await openNext(), await openNext()];
  const [unknown, page] = ['GET /v1/nope', 'GET /docs'].map((line) => headOf(harness, line));
  for (const [at, { socket }] of refused.entries()) socket.write(`${at === 1 ? page : unknown}`.repeat(2));
  await expect.poll(() => waiting).toBe(MOST);
  expect(await askOn(await openNext(), harness)).toBe(200);
  await expect.poll(() => refused.map(({ isClosed }) => isClosed())).toEqual([true, false, false]);
  await openNext();
  await expect.poll(() => refused.map(({ isClosed }) => isClosed())).toEqual([true, true, false]);
});

it('an answer to an overload that waits gives way to a client', async () => {
  let waiting = 0;
  const delayFault = () => {
    waiting += 1;
    return new Promise<void>(() => {});
  };
  const overloaded = async () => {
    throw new EngineDown();
  };
  const isOverloaded = (error: unknown): boolean => error instanceof EngineDown;
  const { harness, openNext } = await bounded({
    delayFault,
    isOverloaded,
    downloadPdf: overloaded,
    find: overloaded,
  });
  const invoice = '/v1/nfse/00000000-0000-4000-8000-000000000000';
  const refused = [await openNext(), await openNext(), await openNext()];
  for (const [at, { socket }] of refused.entries()) {
    socket.write(headOf(harness, `GET ${invoice}${at === 1 ? '/pdf' : ''}`));
    await expect.poll(() => waiting).toBe(at + 1);
  }
  expect(await askOn(await openNext(), harness)).toBe(200);
  await openNext();
  await expect.poll(() => refused.map(({ isClosed }) => isClosed())).toEqual([true, true, false]);
});
