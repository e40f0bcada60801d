import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { errorCode } from '../../src/lib/error-code.js';
import { RUN_FOLDERS } from './temporary-folder.js';

/** Below all that Linux, macOS and Windows hand out by themselves, to a server that asks for any or to a connection. */
const RANGE = { from: 15_000, to: 32_000 };
const TRIES = 100;

/**
 * A free loopback port, for a server that needs a fixed port or must come back on the same one: no other test and
 * no connection is given it in the meantime.
 */
export const freePort = async ({ from, to } = RANGE): Promise<number> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(from, to);
    if (isFirst(port) && (await isFree(port))) return port;
  }
  throw new Error('no free port');
};

/**
 * True for the first call of a run with this port, in whatever process. The server of an earlier one may not listen yet, or be away until its test
 * starts it again.
 */
const isFirst = (port: number): boolean => {
  const folder = process.env[RUN_FOLDERS];
  if (folder === undefined) return true;
  try {
    closeSync(openSync(join(folder, `port-${port}`), 'wx'));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
