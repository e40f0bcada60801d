import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderInUse } from '../options.js';

/** Characters: the kernel's limit on the address of a Unix socket, less the file name. */
const LONGEST_SOCKET_FOLDER = 50;

/**
 * Locks the folder until `release` or the end of the process, also by a kill. Each process listens on its own socket before it looks for other
 * sockets, so two processes can both lose but never both win. The socket of a dead process refuses connections and is removed; socket names
 * are never reused, so a removal cannot hit a running process.
 */
export const lockFolder = async (folder: string): Promise<{ release(): Promise<void> }> => {
  const sockets = await socketFolder(folder);
  const name = `${randomUUID().slice(0, 18)}.lock`;
  const server = await listen(join(sockets, name));
  server.unref();
  const release = async () => {
    await new Promise<void>((done) => server.close(() => done()));
    await rm(join(sockets, name), { force: true });
  };
  for (const other of await readdir(sockets)) {
    if (other === name || !other.endsWith('.lock')) continue;
    if (await isAlive(join(sockets, other))) {
      await release();
      throw new FolderInUse(`another simulator is running on ${folder}: stop it, or give this one another DATA_DIR`);
    }
    await rm(join(sockets, other), { force: true });
  }
  return { release };
};

const socketFolder = async (folder: string): Promise<string> => {
  const real = await realpath(folder);
  const sockets =
    real.length <= LONGEST_SOCKET_FOLDER
      ? join(real, 'lock')
      : join(tmpdir(), `nfse-sim-${createHash('sha256').update(real).digest('hex').slice(0, 16)}`);
  await mkdir(sockets, { recursive: true, mode: 0o700 });
  return sockets;
};

const listen = async (path: string): Promise<Server> => {
  const server = createServer((socket) => socket.destroy()).listen(path);
  await once(server, 'listening');
  return server;
};

const isAlive = async (path: string): Promise<boolean> => {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && ['ECONNREFUSED', 'ENOENT'].includes(String(error.code)));
  } finally {
    socket.destroy();
  }
};
