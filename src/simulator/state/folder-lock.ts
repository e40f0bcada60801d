import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { makeFolders } from '../../lib/files.js';
import { FolderInUse } from '../options.js';

/**
 * Locks the folder until `release` or the end of the process, also by a kill. Each process listens on its own socket before it looks for other
 * sockets, so two processes can both lose but never both win. The socket of a dead process refuses connections and is removed; socket names
 * are never reused, so a removal cannot hit a running process.
 */
export const lockFolder = async (folder: string): Promise<{ release(): Promise<void> }> => {
  const sockets = join(await realpath(folder), 'lock');
  await makeFolders(sockets, 0o700);
  const name = `${randomUUID().slice(0, 18)}.lock`;
  return await withShortPath(sockets, async (short) => {
    const server = await listen(join(short, name));
    server.unref();
    const release = async () => {
      await new Promise<void>((done) => server.close(() => done()));
      await rm(join(sockets, name), { force: true });
    };
    for (const other of await readdir(sockets, { withFileTypes: true })) {
      if (other.name === name || !other.isSocket() || !other.name.endsWith('.lock')) continue;
      if (await isAlive(join(short, other.name))) {
        await release();
        throw new FolderInUse(`another simulator is running on ${folder}: stop it, or give this one another DATA_DIR`);
      }
      await rm(join(sockets, other.name), { force: true });
    }
    return { release };
  });
};

/** Bytes: the kernel's limit on the address of a Unix socket is 103 on macOS and 107 on Linux; the file name takes 24. */
const LONGEST_FOLDER = 76;

/**
 * A folder with a long name is reached through a link. The link is in a fresh folder, whose name no other user of this machine can know before and
 * which only this user can open.
 */
const withShortPath = async <T>(folder: string, action: (short: string) => Promise<T>): Promise<T> => {
  if (Buffer.byteLength(folder) <= LONGEST_FOLDER) return await action(folder);
  const fresh = await mkdtemp(join(tmpdir(), 'nfse-sim-'));
  try {
    const short = join(fresh, 'lock');
    await symlink(folder, short);
    return await action(short);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
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
    return !['ECONNREFUSED', 'ENOENT'].includes(errorCode(error) ?? '');
  } finally {
    socket.destroy();
  }
};
