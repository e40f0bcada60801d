import { spawnSync } from 'node:child_process';
import { type BigIntStats, readdirSync, readlinkSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { processIdentity } from './data-dir.js';
import { readStat, readText } from './process-stat.js';

/** `identity`: as `processIdentity` has it. */
export type SeenProcess = { pid: number; identity: string };

/**
 * The processes of PostgreSQL that work in the folder of a cluster, as far as this process sees them. Other programs in that folder, such as a
 * person's shell, are not among them. Empty on a system without /proc.
 */
export const serverProcesses = (cluster: string): SeenProcess[] => {
  const folder = folderAt(cluster);
  if (folder === undefined) return [];
  return processIds().flatMap((pid) => {
    const identity = processIdentity(pid);
    return identity !== undefined && worksIn(pid, folder) && isPostgres(pid) ? [{ pid, identity }] : [];
  });
};

/** The process, if it is PostgreSQL and works in the cluster. On a system without /proc PostgreSQL's name alone decides. */
export const serverProcess = (pid: number, cluster: string): SeenProcess | undefined => {
  const identity = processIdentity(pid);
  if (identity === undefined || !isPostgres(pid)) return undefined;
  if (process.platform !== 'linux') return { pid, identity };
  const folder = folderAt(cluster);
  return folder !== undefined && worksIn(pid, folder) ? { pid, identity } : undefined;
};

/**
 * Id of the parent of a PostgreSQL process that has ended, or is about to, and that its parent has not reaped: to PostgreSQL it lives. Undefined for
 * any other process, and on a system without /proc.
 */
export const parentOfUnreaped = (pid: number): number | undefined => {
  const stat = readStat(pid);
  if (stat === undefined || stat.name !== 'postgres') return undefined;
  return stat.state === 'Z' || stat.state === 'X' || hasLeftFolder(pid) ? stat.parent : undefined;
};

/** A process that is about to end has no working folder any more. A folder that this user may not see is another matter. */
const hasLeftFolder = (pid: number): boolean => {
  try {
    readlinkSync(`/proc/${pid}/cwd`);
    return false;
  } catch (error) {
    return errorCode(error) === 'ENOENT';
  }
};

const processIds = (): number[] => {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync('/proc').flatMap((name) =>
      /^\d+$/.test(name) && Number(name) !== process.pid ? [Number(name)] : [],
    );
  } catch {
    return [];
  }
};

/** Two containers may give one path to two folders, so folders are compared and not their paths. Undefined where this user may not look. */
const folderAt = (path: string): BigIntStats | undefined => {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
};

const worksIn = (pid: number, folder: BigIntStats): boolean => {
  const own = folderAt(`/proc/${pid}/cwd`);
  return own !== undefined && own.dev === folder.dev && own.ino === folder.ino;
};

/** All processes of PostgreSQL but the main one replace their command line by a text such as `postgres: checkpointer`. */
const isPostgres = (pid: number): boolean => {
  if (process.platform !== 'linux') return /(^|\/)postgres[: ]/.test(commandOf(pid));
  const [program = ''] = (readText(`/proc/${pid}/cmdline`) ?? '').split('\0');
  return program.startsWith('postgres: ') || [program, executableOf(pid)].some((path) => basename(path) === 'postgres');
};

/** Linux marks the path of a program whose file was removed since, as an upgrade does. */
const executableOf = (pid: number): string => {
  try {
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '');
  } catch {
    return '';
  }
};

const commandOf = (pid: number): string =>
  spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
