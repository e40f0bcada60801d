import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { listen } from '../../../src/http/server.js';
import { createHarness } from '../../support/harness/http.js';
import { headOf, openConnection } from './connection.js';

it('one connection more than the limit is turned away and told of; the others are served', async () => {
  const harness = createHarness();
  let drops = 0;
  const onDrop = (): void => {
    drops += 1;
  };
  const server = await listen(harness.app, { host: '127.0.0.1', port: 0 }, { maxConnections: 3, onDrop });
  try {
    const kept = Array.from({ length: 3 }, () => openConnection(server));
    for (const { socket } of kept) socket.write(headOf(harness, 'GET /v1/activities'));
    for (const { answers } of kept) expect((await answers(1))[0]?.status).toBe(200);
    const late = openConnection(server);
    await expect.poll(late.isClosed).toBe(true);
    expect([late.received(), drops]).toEqual(['', 1]);

    kept[0]?.socket.destroy();
    await expect.poll(() => statusOf(server.url)).toBe(true);
  } finally {
    await server.close(0);
  }
});

/** Whether a new connection stays open long enough to be answered. */
const statusOf = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    socket.on('error', () => resolve(false));
    socket.once('data', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
