import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { pause } from '../../lib/pause.js';
import { clusterFolder } from './data-dir.js';
import { EmbeddedPostgresError } from './error.js';
import { listenAsOwner, type OwnerSocket, ownerAnswers } from './owner-socket.js';
import {
  parentOfUnreaped,
  processIdentity,
  readText,
  type SeenProcess,
  serverProcess,
  serverProcesses,
} from './server-processes.js';

const FAST_STOP_MS = 10_000;
const KILL_MS = 5_000;

/** Other processes of a server whose main process is gone do not write to its files at the end, so they get less time. */
const REST_STOP_MS = 2_000;

/** Processes of a server whose main process was killed end by themselves within this time, unless they are busy or frozen. */
const LINGER_MS = 5_000;

/** Some init processes look for ended processes only every few seconds. */
const REAP_MS = 10_000;

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
 * Stops the server that a killed owner left behind, and throws `EmbeddedPostgresError` while any process of such a server lives on where this process
 * does not see it. Call it only under the folder's lock.
 */
export const stopOrphan = async (dataDir: string, log: (line: string) => void): Promise<void> => {
  const cluster = clusterFolder(dataDir);
  const main = mainProcessId(cluster);
  if (main !== undefined) await stopMain(main, cluster, log);
  await endRest(dataDir, log);
  // PostgreSQL asks about the process that the file names, and a server that was stopped cleanly has removed the file.
  const named = mainProcessId(cluster);
  if (named !== undefined) await untilReaped(named, dataDir, log);
  const deadline = performance.now() + LINGER_MS;
  while (await ownerAnswers(serverSocket(dataDir))) {
    if (performance.now() >= deadline)
      throw new EmbeddedPostgresError(
        `DATA_DIR ${dataDir} is in use by a PostgreSQL that a killed service left behind where this process does not see it, as in another container: start the service there, which stops that PostgreSQL, or end its processes (postgres -D …/postgres)`,
      );
    await pause(20);
  }
};

/** Milliseconds for the main process to end its server itself, and then for what is left of the server. */
const NOW_MS = 1_000;

/**
 * Ends the server of a folder whose content is thrown away, before the call returns: for a process that is at its end and waits for nothing. By force
 * after a second.
 */
export const endServerNow = (dataDir: string): void => {
  const cluster = clusterFolder(dataDir);
  const pid = mainProcessId(cluster);
  const main = [pid].flatMap((id) => (id === undefined ? [] : (serverProcess(id, cluster) ?? [])));
  for (const seen of main) send(seen, 'SIGQUIT');
  waitUntilGone(main, NOW_MS);
  const rest = main.concat(serverProcesses(cluster)).filter(lives);
  for (const seen of rest) send(seen, 'SIGKILL');
  waitUntilGone(rest, NOW_MS);
};

/** Holds up the whole process. */
const waitUntilGone = (processes: readonly SeenProcess[], withinMs: number): void => {
  const deadline = performance.now() + withinMs;
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (processes.some(lives) && performance.now() < deadline) Atomics.wait(nothing, 0, 0, 20);
};

const mainProcessId = (cluster: string): number | undefined => {
  const pid = Number(readText(join(cluster, 'postmaster.pid'))?.split('\n')[0]);
  return Number.isSafeInteger(pid) && pid > 0 && pid !== process.pid ? pid : undefined;
};

/** Another process that has the old server's id is recognized by its program and its working folder, and left alone. */
const stopMain = async (pid: number, cluster: string, log: (line: string) => void): Promise<void> => {
  const seen = serverProcess(pid, cluster);
  if (seen === undefined) return;
  log(`stopping PostgreSQL process ${pid}, whose owner is gone`);
  send(seen, 'SIGINT');
  if (await areGone([seen], FAST_STOP_MS)) return;
  send(seen, 'SIGKILL');
  await areGone([seen], KILL_MS);
};

/**
 * Ends what is left of a server whose main process is gone: a process that works on a statement, or is frozen, does not notice that end, and keeps
 * PostgreSQL from starting. Throws `EmbeddedPostgresError` when one does not end. Call it only under the folder's lock.
 */
export const endRest = async (dataDir: string, log: (line: string) => void): Promise<void> => {
  const rest = serverProcesses(clusterFolder(dataDir));
  if (rest.length === 0) return;
  log(`ending PostgreSQL processes whose main process is gone: ${idsOf(rest)}`);
  for (const seen of rest) send(seen, 'SIGQUIT');
  if (await areGone(rest, REST_STOP_MS)) return;
  for (const seen of rest) send(seen, 'SIGKILL');
  if (await areGone(rest, KILL_MS)) return;
  throw new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} is in use by processes of a PostgreSQL that a killed service left behind, and they do not end: end ${idsOf(rest.filter(lives))}, or restart the machine`,
  );
};

/** PostgreSQL takes a main process that has ended for a living one until the parent of that process reaps it. */
const untilReaped = async (pid: number, dataDir: string, log: (line: string) => void): Promise<void> => {
  const deadline = performance.now() + REAP_MS;
  for (let isFirst = true; ; isFirst = false) {
    const parent = parentOfUnreaped(pid);
    if (parent === undefined) return;
    if (isFirst) log(`waiting until process ${parent} reaps PostgreSQL process ${pid}, which has ended`);
    if (performance.now() >= deadline)
      throw new EmbeddedPostgresError(
        `DATA_DIR ${dataDir} cannot be used yet: PostgreSQL process ${pid} has ended and its parent, process ${parent}, does not reap it: run the container with an init (docker run --init), or end the parent`,
      );
    await pause(20);
  }
};

const idsOf = (processes: readonly SeenProcess[]): string => processes.map(({ pid }) => pid).join(', ');

const lives = ({ pid, identity }: SeenProcess): boolean => processIdentity(pid) === identity;

/** The process may have ended, and another may have its id by now. A process that this user may not end is found by the wait for its end. */
const send = (seen: SeenProcess, signal: NodeJS.Signals): void => {
  if (!lives(seen)) return;
  try {
    process.kill(seen.pid, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
  }
};

const areGone = async (processes: readonly SeenProcess[], withinMs: number): Promise<boolean> => {
  const deadline = performance.now() + withinMs;
  while (processes.some(lives)) {
    if (performance.now() >= deadline) return false;
    await pause(20);
  }
  return true;
};
