import { Agent, get, Server } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { createHarness, type Harness, requestInit } from '../../support/harness/http.js';
import { headOf, openConnection, start } from './connection.js';

const READ = 'GET /v1/activities';

/** The route of activities answers when the test says so; `asked` counts the waiting requests. */
const heldHarness = (): { harness: Harness; asked(): number; release(): void } => {
  const waiting: (() => void)[] = [];
  let count = 0;
  const activities = async (): Promise<never[]> => {
    count += 1;
    await new Promise<void>((go) => waiting.push(go));
    return [];
  };
  return {
    harness: createHarness({ activities }),
    asked: () => count,
    release: () => {
      for (const go of waiting.splice(0)) go();
    },
  };
};

describe('a server that stops', () => {
  it('says with its answer that the connection ends, also to a request that came before', async () => {
    const { harness, asked, release } = heldHarness();
    const server = await start(harness);
    const answer = fetch(`${server.url}/v1/activities`, requestInit({}, harness.keys));
    await expect.poll(asked).toBe(1);
    const closed = server.close(60_000);
    release();
    const { status, headers } = await answer;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await closed;
  });

  it('answers all requests that were sent at once, and says it with the last one', async () => {
    const { harness, asked, release } = heldHarness();
    const server = await start(harness);
    const taken = vi.spyOn(Server.prototype, 'emit');
    const requests = (): number => taken.mock.calls.filter(([name]) => String(name) === 'request').length;
    const connection = openConnection(server);
    connection.socket.write(headOf(harness, READ));
    await expect.poll(asked).toBe(1);
    const closed = server.close(60_000);
    connection.socket.write(headOf(harness, READ).repeat(2));
    await expect.poll(requests).toBe(3);
    taken.mockRestore();
    for (const nth of [1, 2, 3]) {
      await expect.poll(asked).toBe(nth);
      release();
    }
    const answers = await connection.answers(3);
    expect(answers.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([
      [200, 'keep-alive'],
      [200, 'keep-alive'],
      [200, 'close'],
    ]);
    await closed;
  });

  it('is rid of a client that never pauses, without an answer lost and long before it would cut', async () => {
    const harness = createHarness();
    const server = await start(harness);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { headers } = requestInit({}, harness.keys);
    const ask = (): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        get(`${server.url}/v1/activities`, { agent, headers: headers as Record<string, string> }, (answer) =>
          answer.resume().on('end', () => resolve(answer.statusCode)),
        ).on('error', reject);
      });
    expect(await ask()).toBe(200);
    const closed = server.close(60_000);
    let fault: unknown;
    while (fault === undefined) {
      const status = await ask().catch((error: unknown) => {
        fault = error;
      });
      if (fault === undefined) expect(status).toBe(200);
    }
    // Refused or unread: a request that was read is answered.
    expect((fault as NodeJS.ErrnoException).code).toMatch(/^(?:ECONNREFUSED|ECONNRESET|EPIPE)$/);
    await closed;
    agent.destroy();
  });

  it('answers a request that comes on a kept connection after the begin, and ends that connection with the answer', async () => {
    const harness = createHarness();
    const server = await start(harness);
    const [used, unused] = [openConnection(server), openConnection(server)];
    for (const connection of [used, unused]) {
      connection.socket.write(headOf(harness, READ));
      await connection.answers(1);
    }
    const closed = server.close(120_000, 60_000);
    // As long as nobody can connect any more, the drain has begun.
    await expect.poll(() => fetch(server.url).then(Boolean, () => false)).toBe(false);
    used.socket.write(headOf(harness, READ));
    const [, late] = await used.answers(2);
    expect([late?.status, late?.headers.get('connection')]).toEqual([200, 'close']);
    await expect.poll(used.isClosed).toBe(true);
    expect(unused.isClosed()).toBe(false);
    unused.socket.destroy();
    await closed;
  });

  it('ends connections on which no client ever sent a request, long before it would cut', async () => {
    const harness = createHarness();
    const server = await start(harness);
    const silent = openConnection(server);
    const half = openConnection(server);
    half.socket.write(headOf(harness, READ).slice(0, -2));
    const other = openConnection(server);
    other.socket.write(headOf(harness, READ));
    await other.answers(1);
    const closed = server.close(120_000);
    await expect.poll(silent.isClosed).toBe(true);
    // A request under way is still answered.
    expect(half.isClosed()).toBe(false);
    half.socket.write('\r\n');
    expect(await half.answers(1)).toMatchObject([{ status: 200 }]);
    await closed;
  });

  it('ends kept connections that stay without a request', async () => {
    const harness = createHarness();
    const server = await start(harness);
    const connection = openConnection(server);
    connection.socket.write(headOf(harness, READ));
    await connection.answers(1);
    await server.close(120_000, 10);
    await expect.poll(connection.isClosed).toBe(true);
  });
});
