import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Hono } from 'hono';
import { expect, it, onTestFinished } from 'vitest';
import { MAX_WAITING } from '../../../src/http/raw-answer.js';
import { gate } from '../../support/gate.js';
import { createHarness } from '../../support/harness/http.js';
import { expectEnvelope, headOf, openConnection, start } from './connection.js';

const GET = 'GET /v1/activities';
const REQUEST_MADE = 'http.server.request.start';

it('a connection that asks for more than it waits for is answered so far, refused and closed', async () => {
  let asked = 0;
  const hold = gate();
  const harness = createHarness({
    rateLimits: { write: 60, read: 10_000 },
    activities: async () => {
      asked += 1;
      await hold.opened;
      return [];
    },
  });
  const connection = openConnection(await start(harness));
  connection.socket.write(headOf(harness, GET).repeat(2_000));
  await expect.poll(() => asked).toBe(1);
  hold.open();
  const answers = await connection.answers(MAX_WAITING + 1);
  expect(answers.slice(0, MAX_WAITING).map(({ status }) => status)).toEqual(Array(MAX_WAITING).fill(200));
  await expectEnvelope(answers.at(-1) ?? Response.error(), 400, 'invalid_request');
  await expect.poll(connection.isClosed).toBe(true);
  expect([asked, answers.length, harness.faults]).toEqual([MAX_WAITING, MAX_WAITING + 1, []]);
});

it('a connection may ask for as many again once it has its answers', async () => {
  const harness = createHarness({ rateLimits: { write: 60, read: 10_000 } });
  const connection = openConnection(await start(harness));
  for (let round = 1; round <= 3; round += 1) {
    connection.socket.write(headOf(harness, GET).repeat(MAX_WAITING));
    const answers = await connection.answers(round * MAX_WAITING);
    expect(answers.map(({ status }) => status)).toEqual(Array(round * MAX_WAITING).fill(200));
  }
});

it('hands over one request of a connection at a time, and at most one in a turn of the loop', async () => {
  let turn = 0;
  let inHand = 0;
  const turns: number[] = [];
  const seen: number[] = [];
  const app = new Hono();
  app.get('/*', async (c) => {
    inHand += 1;
    seen.push(inHand);
    turns.push(turn);
    await Promise.resolve();
    inHand -= 1;
    return c.text('ok');
  });
  let counting = true;
  const count = (): void => {
    turn += 1;
    if (counting) setImmediate(count);
  };
  count();
  const connection = openConnection(await start({ app }));
  connection.socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(MAX_WAITING));
  await expect.poll(() => turns.length).toBe(MAX_WAITING);
  counting = false;
  expect(new Set(seen)).toEqual(new Set([1]));
  expect(new Set(turns).size).toBe(MAX_WAITING);
});

it('runs none of the requests that wait when their connection is gone', async () => {
  let asked = 0;
  const hold = gate();
  const app = new Hono();
  app.get('/*', async (c) => {
    asked += 1;
    await hold.opened;
    return c.text('ok');
  });
  const server = await start({ app });
  const { socket } = openConnection(server);
  socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(MAX_WAITING));
  await expect.poll(() => asked).toBe(1);
  socket.resetAndDestroy();
  await server.close(10_000);
  hold.open();
  const next = openConnection(await start({ app }));
  next.socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => next.received()).toContain('200 OK');
  expect(asked).toBe(2);
});

/** Counts the requests of which Node makes objects. */
const counted = (): (() => number) => {
  let made = 0;
  const count = (): void => {
    made += 1;
  };
  subscribe(REQUEST_MADE, count);
  onTestFinished(() => void unsubscribe(REQUEST_MADE, count));
  return () => made;
};

it('Node makes no request of those in a packet that are refused', async () => {
  const made = counted();
  const harness = createHarness({ rateLimits: { write: 60, read: 10_000 } });
  const connection = openConnection(await start(harness));
  connection.socket.write(headOf(harness, GET).repeat(2_000));
  await expectEnvelope((await connection.answers(MAX_WAITING + 1)).at(-1) ?? Response.error(), 400, 'invalid_request');
  await expect.poll(connection.isClosed).toBe(true);
  expect(made()).toBe(MAX_WAITING);
});

it('nor of those after an answer that has ended the connection, while the client is given time to read that answer', async () => {
  const made = counted();
  const harness = createHarness();
  // A client that goes on sending after the server has ended its side.
  const connection = openConnection(await start(harness), true);
  const began = performance.now();
  connection.socket.write(headOf(harness, 'POST /v1/nope', 'Content-Length: 4\r\n'));
  await expectEnvelope((await connection.answers(1))[0] ?? Response.error(), 404, 'route_not_found');
  connection.socket.write(`rest${headOf(harness, GET).repeat(2_000)}`);
  // Such a client sees the end of the connection when it sends more.
  await expect
    .poll(() => {
      connection.socket.write('x');
      return connection.isClosed();
    })
    .toBe(true);
  // The time to read the answer was not cut short. Timers may come a moment early.
  expect(performance.now() - began).toBeGreaterThan(950);
  expect(made()).toBe(1);
});
