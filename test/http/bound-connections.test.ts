import { expect, it } from 'vitest';
import type { ServerOptions } from '../../src/http/server.js';
import { createHarness, type Harness } from '../support/harness/http.js';
import { type Connection, headOf, openConnection, start } from './server/connection.js';

const MOST = 3;

/** A server that keeps three connections; `drops` counts those that the limit closed. */
const bounded = async (options: ServerOptions = {}) => {
  const harness = createHarness();
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

it('requests under way keep their connections, and a new connection is closed unread', async () => {
  const { harness, openNext, drops } = await bounded();
  const busy = [await openNext(), await openNext(), await openNext()];
  const rest = 'Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n';
  for (const { socket } of busy) socket.write(headOf(harness, 'POST /v1/nfse', rest));
  for (const { received } of busy) await expect.poll(received).toContain('100 Continue');
  const late = await openNext();
  await expect.poll(late.isClosed).toBe(true);
  expect([late.received(), drops(), busy.some(({ isClosed }) => isClosed())]).toEqual(['', 1, false]);
  for (const { socket } of busy) socket.write('{}');
  for (const { answers } of busy) expect((await answers(1))[0]?.status).toBe(400);
});
