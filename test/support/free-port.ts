import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below all that Linux, macOS and Windows hand out by themselves, to a server that asks for any or to a connection. */
const RANGE = { from: 15_000, to: 32_000 };
const TRIES = 100;

/**
 * A free loopback port, for a server that needs a fixed port or must come back on the same one: no other test and
 * no connection is given it in the meantime.
 */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(RANGE.from, RANGE.to);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
