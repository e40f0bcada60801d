import { describe, expect, it } from 'vitest';
import { gate } from '../../support/gate.js';
import { createHarness, type Harness } from '../../support/harness/http.js';
import { type Connection, expectEnvelope, headOf, issueBytes, openConnection, start } from './connection.js';

const GET = 'GET /v1/activities';

/** Every answer waits for `hold`, so none can leave before the server has seen the end of the client's side. */
const held = ({ opened }: Pick<ReturnType<typeof gate>, 'opened'>): Harness =>
  createHarness({
    apiState: async () => {
      await opened;
      return 'open';
    },
  });

/** Sends these bytes and ends the client's side; the other side stays open. */
const halfClose = ({ socket }: Connection, bytes: string): void => void socket.end(bytes);

/** Time in which a server that took the end of one side for the end of both would have closed the connection. */
const SEEN_MS = 100;
const seen = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SEEN_MS));

describe('a client that ends its side after its requests', () => {
  it.each([
    ['POST', (harness: Harness) => issueBytes(harness, 500), 202],
    ['GET', (harness: Harness) => headOf(harness, GET), 200],
  ])('gets the answer to its %s, however long that takes, and the connection ends', async (_method, bytes, status) => {
    const hold = gate();
    const harness = held(hold);
    const connection = openConnection(await start(harness), true);
    halfClose(connection, bytes(harness));
    await seen();
    expect(connection.isClosed()).toBe(false);
    hold.open();
    expect((await connection.answers(1)).map((answer) => answer.status)).toEqual([status]);
    await expect.poll(connection.isClosed).toBe(true);
  });

  it('gets the answers to all requests of the connection', async () => {
    const hold = gate();
    const harness = held(hold);
    const connection = openConnection(await start(harness), true);
    halfClose(connection, headOf(harness, GET) + issueBytes(harness, 500) + headOf(harness, GET));
    await seen();
    hold.open();
    expect((await connection.answers(3)).map(({ status }) => status)).toEqual([200, 202, 200]);
    await expect.poll(connection.isClosed).toBe(true);
  });

  it('gets 400 for a request that is not whole, and nothing is done', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness), true);
    halfClose(connection, issueBytes(harness, 500, { declared: 5_000 }));
    await expectEnvelope((await connection.answers(1))[0] ?? Response.error(), 400, 'invalid_request');
    await expect.poll(connection.isClosed).toBe(true);
  });

  it.each([
    ['without a request', ''],
    ['after its answer', 'GET /v1/nope HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('is closed at once %s', async (_when, bytes) => {
    const connection = openConnection(await start(createHarness()), true);
    if (bytes !== '') {
      connection.socket.write(bytes);
      await connection.answers(1);
    }
    halfClose(connection, '');
    await expect.poll(connection.isClosed).toBe(true);
  });
});

describe('a client that is gone while its request is under way', () => {
  it('does not hold its connection beyond the limit of silence', async () => {
    const hold = gate();
    const harness = held(hold);
    const server = await start(harness, { timeout: 300 });
    const connection = openConnection(server, true);
    halfClose(connection, headOf(harness, GET));
    await expect.poll(connection.isClosed).toBe(true);
    expect(connection.received()).toBe('');
    hold.open();
    await server.close(60_000);
  });

  it('holds no stop of the server beyond its time', async () => {
    const hold = gate();
    const harness = held(hold);
    const server = await start(harness);
    const connection = openConnection(server);
    halfClose(connection, headOf(harness, GET));
    await seen();
    await server.close(300);
    await expect.poll(connection.isClosed).toBe(true);
    hold.open();
  });

  it('is named with its address in the report', async () => {
    const [asked, hold] = [gate(), gate()];
    const harness = createHarness({
      apiState: async () => {
        asked.open();
        await hold.opened;
        return 'open';
      },
    });
    const { socket } = openConnection(await start(harness));
    socket.write(issueBytes(harness, 500));
    // A server that has not read the request before the reset never learns the address.
    await asked.opened;
    socket.resetAndDestroy();
    await seen();
    hold.open();
    await expect.poll(() => harness.summaries.length).toBe(1);
    expect(harness.summaries).toMatchObject([{ status: 202, peer: '127.0.0.1' }]);
  });

  it('leaves no connection open once its answer is made', async () => {
    const hold = gate();
    const harness = held(hold);
    const server = await start(harness);
    const { socket } = openConnection(server);
    socket.end(issueBytes(harness, 500), () => socket.destroy());
    await expect.poll(() => socket.destroyed).toBe(true);
    await seen();
    hold.open();
    await server.close(60_000);
    expect(harness.faults).toEqual([]);
    expect(harness.summaries.map(({ status }) => status)).toEqual([202]);
  });
});
