import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { pause } from '../../lib/pause.js';
import { writeWhole } from '../../lib/write-whole.js';
import { EmbeddedPostgresError } from './error.js';
import { type OsUser, unreachableFolder } from './os-user.js';

/**
 * Creates the data folder if it is missing; throws `EmbeddedPostgresError`. Other users may pass through the folder, because PostgreSQL may run as
 * one of them, but not list it. Secret files in it have their own mode.
 */
const makeDataDir = async (dataDir: string): Promise<{ undo(): Promise<void> }> => {
  try {
    const made = await mkdir(dataDir, { recursive: true, mode: 0o711 });
    return { undo: async () => (made === undefined ? undefined : rm(made, { recursive: true, force: true })) };
  } catch (cause) {
    const code = errorCode(cause) ?? 'unknown error';
    throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} cannot be created (${code}): choose another DATA_DIR`, {
      cause,
    });
  }
};

/** Creates the data folder; throws `EmbeddedPostgresError` when the server's user could not reach it. */
export const prepareDataDir = async (dataDir: string, user: OsUser | undefined): Promise<void> => {
  const { undo } = await makeDataDir(dataDir);
  if (user === undefined || unreachableFolder(user, dataDir) === undefined) return;
  await undo();
  throw new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} cannot be reached by OS user ${user.name}: choose another DATA_DIR or run as a normal user`,
  );
};

export type DataDirLock = { release(): Promise<void> };

type LockFile = { pid: number; identity: string; released: boolean };

const RETRY_MS = 50;

/**
 * Takes the lock of a data folder, which one process of this machine can hold. The lock of a dead process does not
 * count, even when another process has its id now. Waits up to `waitMs`, then throws `EmbeddedPostgresError` that names the owner.
 *
 * Lock files are numbered, and the numbers only rise: a process takes the lock by creating the next file, complete and atomically, and the highest is
 * never deleted. So no process can remove a lock that it has not seen, which a single lock file would allow.
 */
export const lockDataDir = async (dataDir: string, { waitMs }: { waitMs: number }): Promise<DataDirLock> => {
  const folder = join(dataDir, 'lock');
  await makeDataDir(dataDir);
  await mkdir(folder, { recursive: true });
  const deadline = Date.now() + waitMs;
  for (;;) {
    const attempt = await tryLock(folder);
    if (attempt.kind === 'taken') return { release: () => releaseLock(attempt.path) };
    if (Date.now() >= deadline) {
      throw new EmbeddedPostgresError(
        `DATA_DIR ${dataDir} is in use by process ${attempt.owner}: stop that process or choose another DATA_DIR`,
      );
    }
    await pause(RETRY_MS);
  }
};

type Attempt = { kind: 'taken'; path: string } | { kind: 'busy'; owner: number };

const tryLock = async (folder: string): Promise<Attempt> => {
  const highest = (await lockNumbers(folder)).at(-1) ?? 0;
  const current = highest === 0 ? undefined : await readLockFile(lockPath(folder, highest));
  if (current !== undefined && isAlive(current)) return { kind: 'busy', owner: current.pid };
  const own = highest + 1;
  const path = lockPath(folder, own);
  if (!(await createWhole(path, ownLockFile()))) {
    return { kind: 'busy', owner: (await readLockFile(path))?.pid ?? 0 };
  }
  const numbers = await lockNumbers(folder);
  const above = numbers.find((number) => number > own);
  if (above !== undefined) {
    // The list was outdated: a later owner had removed this number before this process created it again.
    await rm(path, { force: true });
    return { kind: 'busy', owner: (await readLockFile(lockPath(folder, above)))?.pid ?? 0 };
  }
  for (const number of numbers) if (number < own) await rm(lockPath(folder, number), { force: true });
  return { kind: 'taken', path };
};

const ownLockFile = (): LockFile => ({
  pid: process.pid,
  identity: processIdentity(process.pid) ?? '',
  released: false,
});

const isAlive = ({ pid, identity, released }: LockFile): boolean => !released && processIdentity(pid) === identity;

const lockPath = (folder: string, number: number): string => join(folder, `claim-${number}`);

const lockNumbers = async (folder: string): Promise<number[]> =>
  (await readdir(folder))
    .flatMap((name) => {
      const match = /^claim-(\d+)$/.exec(name);
      return match === null ? [] : [Number(match[1])];
    })
    .sort((a, b) => a - b);

const readLockFile = async (path: string): Promise<LockFile | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/** Returns false when the file exists. A hard link appears with its content or not at all. */
const createWhole = async (path: string, lockFile: LockFile): Promise<boolean> => {
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(draft, JSON.stringify(lockFile));
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
};

const releaseLock = (path: string): Promise<void> =>
  writeWhole(path, JSON.stringify({ ...ownLockFile(), released: true }));

/**
 * Returns a name that no other process ever gets, unlike a process id. The start time counts from the boot, so the boot is part of the name.
 * Undefined when no such process lives on this machine or in this container.
 */
export const processIdentity = (pid: number): string | undefined => {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat !== undefined) {
    // The second field is the program's name in parentheses and may hold anything; the 22nd is the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}/${fields[19] ?? ''}`;
  }
  if (process.platform === 'linux') return undefined;
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout?.trim() || undefined;
};

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
