import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { bound, itemOf, openQueueHarness, putUntilTaken } from '../../support/harness/nats-queue.js';
import { type NatsServer, startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';
import { startSilentServer } from '../../support/silent-server.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
});

const startedNats = async (): Promise<NatsServer> => {
  const server = await startNats();
  closers.push(server.close);
  return server;
};

/** In front of a server of NATS, whose first line then names another server of its cluster. */
const lineOfCluster = async (server: NatsServer, other: string) => {
  const sockets = new Set<Socket>();
  let isDown = false;
  let tries = 0;
  const listener = createServer((client) => {
    tries += 1;
    if (isDown) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(new URL(server.url).port), '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.once('data', (chunk) => {
      client.write(chunk.toString('latin1').replace(/^INFO \{/, `INFO {"connect_urls":["${other}"],`), 'latin1');
      upstream.on('data', (next) => client.write(next));
    });
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  closers.push(async () => {
    cut();
    await new Promise((closed) => listener.close(closed));
  });
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the line has no port');
  return {
    url: `nats://user:secret@127.0.0.1:${address.port}`,
    /** Ends all connections and takes no more. */
    fall: (): void => {
      isDown = true;
      cut();
    },
    tries: (): number => tries,
  };
};

describeWith('natsServer', 'without TLS', () => {
  it('the queue goes to no server that a server names, and its password neither', async () => {
    const other = await startSilentServer({ greeting: 'INFO {"server_id":"x","version":"2.9.0","proto":1}\r\n' });
    closers.push(other.close);
    const line = await lineOfCluster(await startedNats(), `127.0.0.1:${other.port}`);
    const harness = openQueueHarness(line.url);
    closers.push(harness.close);
    const queue = await harness.open();
    await queue.put(itemOf('a'));
    line.fall();
    await vi.waitFor(() => expect(line.tries()).toBeGreaterThan(3), bound);
    expect(other.taken()).toBe(0);
  });

  it('the queue goes to the next server of its address when the first is lost', async () => {
    const servers = [await startedNats(), await startedNats()];
    const harness = openQueueHarness(servers.map(({ url }) => url).join(','));
    closers.push(harness.close);
    const queue = await harness.open();
    await queue.put(itemOf('a'));
    const counts = async (): Promise<readonly (number | undefined)[]> =>
      await Promise.all(
        servers.map(async ({ admin }) => {
          const { streams } = await (await admin()).jetstreamManager();
          return await streams.info(harness.names.workStream).then(
            ({ state }) => state.messages,
            () => undefined,
          );
        }),
      );
    const first = (await counts()).indexOf(1);
    await servers[first]?.kill();
    await putUntilTaken(queue, itemOf('b'));
    expect(queue.status()).toEqual({ ok: true });
    await servers[first]?.start();
    expect(await counts()).toEqual([1, 1]);
  });
});
