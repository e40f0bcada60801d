import { spawnSync } from 'node:child_process';
import { type BigIntStats, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { errorCode } from '../../lib/error-code.js';

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

/**
 * Returns a name that no other process ever gets, unlike a process id. The start time counts from the boot, so the boot is part of the name.
 * Undefined when no such process lives on this machine or in this container.
 */
export const processIdentity = (pid: number): string | undefined => {
  const stat = readStat(pid);
  if (stat !== undefined) {
    if (stat.state === 'Z' || stat.state === 'X') return undefined;
    return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}/${stat.started}`;
  }
  if (process.platform === 'linux') return undefined;
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout?.trim() || undefined;
};

/** `state`: one letter, Z for a process that has ended and that its parent has not reaped. `started` counts from the boot of the machine. */
type ProcessStat = { name: string; state: string; parent: number; started: string };

/** What Linux says of a process; undefined for a process that is not there, and on a system without /proc. */
const readStat = (pid: number): ProcessStat | undefined => {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold anything; the fields after the name are split by spaces.
  const end = stat.lastIndexOf(')');
  const [state = '', parent = '', ...others] = stat.slice(end + 2).split(' ');
  return { name: stat.slice(stat.indexOf('(') + 1, end), state, parent: Number(parent), started: others[17] ?? '' };
};

/** Undefined for a file that is not there or may not be read. */
export const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
