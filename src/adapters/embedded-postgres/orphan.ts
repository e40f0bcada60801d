import { readlinkSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../lib/pause.js';
import { processIdentity } from './data-dir.js';

const FAST_STOP_MS = 10_000;
const KILL_MS = 5_000;

/**
 * Stops the server that a killed owner left behind; call it only under the folder's lock. Another process that has the old server's id is recognized
 * by its working folder and left alone.
 */
export const stopOrphan = async (cluster: string, log: (line: string) => void): Promise<void> => {
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
