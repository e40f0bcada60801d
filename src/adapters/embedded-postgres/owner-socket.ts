import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname } from 'node:path';
import { errorCode } from '../../lib/error-code.js';

/** `fd`: number of the socket in this process, to be inherited by another one; undefined on a system without such numbers. */
export type OwnerSocket = { fd: number | undefined; end(): Promise<void> };

/**
 * Shows that this process, the owner of a lock, lives: it listens on a Unix socket. The kernel ends the socket with the last process that has it, also
 * after a kill, and answers processes of every container of this machine. Rejects where the file system takes no sockets.
 */
export const listenAsOwner = async (path: string): Promise<OwnerSocket> => {
  const server = createServer((socket) => socket.destroy());
  await withShortPath(path, async (short) => {
    // Another user may ask too: a process of root may hold the lock of that user's folder.
    server.listen({ path: short, writableAll: true });
    await once(server, 'listening');
  });
  server.unref();
  return {
    fd: descriptorOf(server),
    end: async () => {
      await new Promise<void>((done) => server.close(() => done()));
      await rm(path, { force: true });
    },
  };
};

/** Node gives a child the sockets of connections only, so the number of a listening socket is read from Node's own handle. */
const descriptorOf = (server: Server & { _handle?: { fd?: number } }): number | undefined => {
  const fd = server._handle?.fd;
  return fd === undefined || fd < 0 ? undefined : fd;
};

/** Whether the process that listens as the owner at this path lives, be it frozen. False without such a file. */
export const ownerAnswers = async (path: string): Promise<boolean> => {
  try {
    await withShortPath(path, async (short) => {
      const socket = connect(short);
      await once(socket, 'connect').finally(() => socket.destroy());
    });
    return true;
  } catch (error) {
    return !['ECONNREFUSED', 'ENOENT'].includes(errorCode(error) ?? '');
  }
};

/** Bytes: the kernel's limit on the address of a Unix socket is 107 on Linux and 103 on macOS. */
const LONGEST_PATH = 100;

/** Linux reaches a file of a folder with a long name through the number of the opened folder. */
const withShortPath = async (path: string, action: (short: string) => Promise<void>): Promise<void> => {
  if (Buffer.byteLength(path) <= LONGEST_PATH || process.platform !== 'linux') return await action(path);
  const folder = await open(dirname(path), 'r');
  try {
    await action(`/proc/self/fd/${folder.fd}/${basename(path)}`);
  } finally {
    await folder.close();
  }
};
