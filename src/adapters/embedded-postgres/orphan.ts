import { readlinkSync } from 'node:fs';
import { readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../lib/pause.js';
import { clusterFolder } from './cluster-names.js';
import { processIdentity } from './data-dir.js';
import { EmbeddedPostgresError } from './error.js';
import { listenAsOwner, type OwnerSocket, ownerAnswers } from './owner-socket.js';

const FAST_STOP_MS = 10_000;
const KILL_MS = 5_000;

/** Processes of a server whose main process was killed end by themselves within this time, unless they are frozen. */
const LINGER_MS = 5_000;

const serverSocket = (dataDir: string): string => join(dataDir, 'lock', 'server.sock');

/**
 * Opens the socket that all processes of the folder's server inherit: PostgreSQL's own checks do not see a server of another container. Undefined where
 * the file system takes no sockets. Call it under the folder's lock, after `stopOrphan`.
 */
export const openServerSocket = async (dataDir: string): Promise<OwnerSocket | undefined> => {
  const path = serverSocket(dataDir);
  await rm(path, { force: true });
  return await listenAsOwner(path).catch(() => undefined);
};

/**
 * Stops the server that a killed owner left behind, and throws `EmbeddedPostgresError` while any process of such a server lives on in another
 * container. Call it only under the folder's lock.
 */
export const stopOrphan = async (dataDir: string, log: (line: string) => void): Promise<void> => {
  await stopSeen(clusterFolder(dataDir), log);
  const deadline = performance.now() + LINGER_MS;
  while (await ownerAnswers(serverSocket(dataDir))) {
    if (performance.now() >= deadline)
      throw new EmbeddedPostgresError(
        `DATA_DIR ${dataDir} is in use by a PostgreSQL that a killed service left behind outside this container: start the service there, which stops that PostgreSQL, or end its processes (postgres -D …/postgres)`,
      );
    await pause(20);
  }
};

/** Another process that has the old server's id is recognized by its working folder and left alone. */
const stopSeen = async (cluster: string, log: (line: string) => void): Promise<void> => {
  const pid = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return;
  const identity = processIdentity(pid);
  if (identity === undefined || !(await worksIn(pid, cluster))) return;
  log(`stopping PostgreSQL process ${pid}, whose owner is gone`);
  process.kill(pid, 'SIGINT');
  if (await isGone(pid, identity, FAST_STOP_MS)) return;
  process.kill(pid, 'SIGKILL');
  await isGone(pid, identity, KILL_MS);
};

const worksIn = async (pid: number, cluster: string): Promise<boolean> => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === (await realpath(cluster));
  } catch {
    // On a system without /proc the pid file alone decides; on Linux an unreadable entry counts as another process.
    return process.platform !== 'linux';
  }
};

const isGone = async (pid: number, identity: string, withinMs: number): Promise<boolean> => {
  const deadline = performance.now() + withinMs;
  while (processIdentity(pid) === identity) {
    if (performance.now() >= deadline) return false;
    await pause(20);
  }
  return true;
};
