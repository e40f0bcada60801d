import { randomUUID } from 'node:crypto';
import { existsSync, readlinkSync, statSync } from 'node:fs';
import { chmod, link, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { makeFolders, writeNew, writeWhole } from '../../lib/files.js';
import { otherOwner } from '../../lib/other-owner.js';
import { pause } from '../../lib/pause.js';
import { DataDirUnwritable, EmbeddedPostgresError } from './error.js';
import { existingOsUsers, type OsUser, unreachableFolder } from './os-user.js';
import { listenAsOwner, ownerAnswers } from './owner-socket.js';
import { processIdentity, serverProcesses } from './server-processes.js';

/** Names in the data folder: the cluster, the cluster while `initdb` makes it, and the file that gives `initdb` the password. */
export const CLUSTER_NAMES = { cluster: 'postgres', draft: 'postgres.new', password: 'postgres.password' } as const;

export const clusterFolder = (dataDir: string): string => join(dataDir, CLUSTER_NAMES.cluster);

const PASSABLE = 0o711;

/** Throws `EmbeddedPostgresError` for a path that is there and is no folder, and for a link that leads nowhere. */
export const refuseFileAsDataDir = (dataDir: string): void => {
  const target = targetOfDeadLink(resolve(dataDir));
  if (target !== undefined)
    throw new EmbeddedPostgresError(
      `DATA_DIR ${dataDir} is a link to ${target}, where no folder is: mount or make that folder, or choose another DATA_DIR`,
    );
  // A path through a file is refused when the folder is made.
  if (!existsSync(dataDir) || statSync(dataDir).isDirectory()) return;
  throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} is a file and not a folder: choose another DATA_DIR`);
};

/** Undefined for other paths, and for a link whose end this user may not see. */
const targetOfDeadLink = (path: string): string | undefined => {
  try {
    statSync(path);
    return undefined;
  } catch (error) {
    return ['ENOENT', 'ELOOP'].includes(errorCode(error) ?? '') ? targetOf(path) : undefined;
  }
};

const targetOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
};

/**
 * Creates the data folder if it is missing; throws `EmbeddedPostgresError`. Other users may pass through the folder, because PostgreSQL may run as
 * one of them, but not list it. Secret files in it have their own mode.
 */
const makeDataDir = async (dataDir: string): Promise<{ made: string | undefined; undo(): Promise<void> }> => {
  try {
    const made = await makeFolders(dataDir, PASSABLE);
    return { made, undo: async () => (made === undefined ? undefined : rm(made, { recursive: true, force: true })) };
  } catch (cause) {
    const code = errorCode(cause) ?? 'unknown error';
    throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} cannot be created (${code}): choose another DATA_DIR`, {
      cause,
    });
  }
};

/**
 * The refusal of a data folder whose database belongs to another OS user than this process and its server. Without a database yet, root refuses the
 * folder of another user, whose service could not use what root makes there; other users may try, because a folder may be open to their group.
 */
export const refusalOfOtherUser = async (dataDir: string): Promise<EmbeddedPostgresError | undefined> => {
  const cluster = clusterFolder(dataDir);
  const isRoot = process.geteuid?.() === 0;
  const ownerOfCluster = await ownerOf(cluster);
  const isThere = ownerOfCluster !== undefined;
  if (!isThere && !isRoot) return undefined;
  const [at, name] = isThere ? [cluster, cluster] : [dataDir, `DATA_DIR ${dataDir}`];
  const owner = ownerOfCluster ?? (await ownerOf(dataDir));
  if (owner === undefined) return undefined;
  if (isRoot && existingOsUsers().some(({ uid }) => uid === owner)) return undefined;
  const advice = await otherOwner(at, { name });
  return advice === undefined ? undefined : new EmbeddedPostgresError(advice);
};

/** Undefined for a path that is not there or not seen. */
export const ownerOf = async (path: string): Promise<number | undefined> =>
  (await stat(path).catch(() => undefined))?.uid;

/**
 * Creates the data folder; throws `EmbeddedPostgresError` when the folder or its database belongs to another OS user, or the server's user could not
 * reach the folder.
 */
export const prepareDataDir = async (dataDir: string, user: OsUser | undefined): Promise<void> => {
  refuseFileAsDataDir(dataDir);
  const refusal = await refusalOfOtherUser(dataDir);
  if (refusal !== undefined) throw refusal;
  const { made, undo } = await makeDataDir(dataDir);
  if (user === undefined) return;
  if (made !== undefined) await letPass(resolve(made), resolve(dataDir));
  if ((await unreachableFolder(user, dataDir)) === undefined) return;
  await undo();
  throw new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} cannot be reached by OS user ${user.name}: choose another DATA_DIR or run as a normal user`,
  );
};

const lockFolder = (dataDir: string): string => join(dataDir, 'lock');

/** Whether a process has ever taken the lock of this data folder. */
export const wasLocked = (dataDir: string): boolean => existsSync(lockFolder(dataDir));

/**
 * Whether this folder is a copy that was made while a process held the original, which it still does: the lock names that process, and no process
 * listens on the socket of the owner in this folder. Some copies leave sockets out, as those of tar. False where the file system takes no sockets.
 * The socket of the original may have been removed, as an old file is; then its database works in this folder.
 */
export const isCopyInUse = async (dataDir: string): Promise<boolean> => {
  const folder = lockFolder(dataDir);
  const lock = await newestLock(folder);
  if (lock?.socket === undefined || lock.released || !isSeen(lock)) return false;
  if (await ownerAnswers(join(folder, lock.socket))) return false;
  return serverProcesses(clusterFolder(dataDir)).length === 0;
};

/** Whether this process sees the one that holds the folder. It does not see a process of another container, whose network may be another one too. */
export const isOwnerSeen = async (dataDir: string): Promise<boolean> => {
  const lock = await newestLock(lockFolder(dataDir));
  return lock !== undefined && !lock.released && isSeen(lock);
};

const newestLock = async (folder: string): Promise<LockFile | undefined> => {
  const highest = existsSync(folder) ? (await lockNumbers(folder)).at(-1) : undefined;
  return highest === undefined ? undefined : await readLockFile(lockPath(folder, highest));
};

/** Gives folders that were just made their mode in full, because a umask of root cuts the mode. */
const letPass = async (highest: string, dataDir: string): Promise<void> => {
  for (let folder = dataDir; folder.length >= highest.length; folder = dirname(folder)) await chmod(folder, PASSABLE);
};

type DataDirLock = { release(): Promise<void> };

/** `socket`: file in the lock's folder by which the owner shows that it lives; absent where the file system takes no sockets. */
type LockFile = { pid: number; identity: string; released: boolean; socket?: string };

const RETRY_MS = 50;

/**
 * Takes the lock of a data folder. Waits up to `waitMs`, then throws `EmbeddedPostgresError` that names the owner. Throws `DataDirUnwritable` for a
 * folder in which this user may not write.
 */
export const lockDataDir = async (dataDir: string, { waitMs }: { waitMs: number }): Promise<DataDirLock> => {
  const folder = lockFolder(dataDir);
  await makeDataDir(dataDir);
  // Under a umask of 000 other users could remove the lock or write one.
  await namingUnwritable(dataDir, makeFolders(folder, 0o755));
  const taken = await namingUnwritable(dataDir, takeLock(folder, { waitMs }));
  if (taken.kind === 'taken') return { release: taken.release };
  // To stop the process that the lock names would stop the service of the original.
  const fault = (await isCopyInUse(dataDir))
    ? `is a copy made while process ${taken.processId} ran on the original, and the files in it name the database of that process: nfse backup and nfse restore make a copy to work on; for a command set DATA_DIR as the service has it`
    : `is in use by ${ownerText(taken.processId)}`;
  throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} ${fault}`);
};

/**
 * Takes the lock that this folder is, which one process of this machine can hold, in whatever container. The lock of a dead process does not count, even
 * when another process has its id now. Another container does not see the process, but its socket. Waits up to `waitMs`.
 *
 * Lock files are numbered, and the numbers only rise: a process takes the lock by creating the next file, complete and atomically, and the highest is
 * never deleted. So no process can remove a lock that it has not seen, which a single lock file would allow.
 */
export const takeLock = async (folder: string, { waitMs }: { waitMs: number }): Promise<TakenLock> => {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const attempt = await tryLock(folder);
    if (attempt.kind === 'taken' || performance.now() >= deadline) return attempt;
    await pause(RETRY_MS);
  }
};

const namingUnwritable = <T>(dataDir: string, work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    const code = errorCode(cause) ?? '';
    if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) throw cause;
    throw new DataDirUnwritable(
      `DATA_DIR ${dataDir} takes no file (${code}): let this user write there, or choose another DATA_DIR`,
      { cause },
    );
  });

/** `processId`: who holds the lock; undefined for a process of another container, whose id means nothing here. */
type TakenLock = { kind: 'taken'; release(): Promise<void> } | { kind: 'busy'; processId: number | undefined };

const tryLock = async (folder: string): Promise<TakenLock> => {
  const highest = (await lockNumbers(folder)).at(-1) ?? 0;
  const current = highest === 0 ? undefined : await readLockFile(lockPath(folder, highest));
  if (current !== undefined && (await isAlive(folder, current))) return busy(current);
  const own = highest + 1;
  const path = lockPath(folder, own);
  const socket = `owner-${randomUUID()}.sock`;
  const listening = await listenAsOwner(join(folder, socket)).catch(() => undefined);
  const lockFile: LockFile = { ...ownLockFile(), ...(listening === undefined ? {} : { socket }) };
  if (!(await createWhole(path, lockFile))) {
    await listening?.end();
    return busy(await readLockFile(path));
  }
  const numbers = await lockNumbers(folder);
  const above = numbers.find((number) => number > own);
  if (above !== undefined) {
    // The list was outdated: a later owner had removed this number before this process created it again.
    await rm(path, { force: true });
    await listening?.end();
    return busy(await readLockFile(lockPath(folder, above)));
  }
  for (const number of numbers) if (number < own) await removeLock(folder, number);
  const release = async (): Promise<void> => {
    await writeWhole(path, JSON.stringify({ ...lockFile, released: true }));
    await listening?.end();
  };
  return { kind: 'taken', release };
};

/** Root may lock a folder of another user, who writes there what they like: a socket of another name is not removed. */
const SOCKET = /^owner-[0-9a-f-]{36}\.sock$/;

const removeLock = async (folder: string, number: number): Promise<void> => {
  const path = lockPath(folder, number);
  const socket = (await readLockFile(path))?.socket;
  if (socket !== undefined && SOCKET.test(socket)) await rm(join(folder, socket), { force: true });
  await rm(path, { force: true });
};

const busy = (lockFile: LockFile | undefined): TakenLock => ({
  kind: 'busy',
  processId: lockFile !== undefined && isSeen(lockFile) ? lockFile.pid : undefined,
});

const ownerText = (processId: number | undefined): string =>
  processId === undefined
    ? 'a process of another container: run the command in that container, stop it or choose another DATA_DIR'
    : `process ${processId}: stop that process or choose another DATA_DIR`;

const ownLockFile = (): LockFile => ({
  pid: process.pid,
  identity: processIdentity(process.pid) ?? '',
  released: false,
});

const isAlive = async (folder: string, lockFile: LockFile): Promise<boolean> => {
  if (lockFile.released) return false;
  return isSeen(lockFile) || (lockFile.socket !== undefined && (await ownerAnswers(join(folder, lockFile.socket))));
};

const isSeen = ({ pid, identity }: LockFile): boolean => processIdentity(pid) === identity;

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
  try {
    await writeNew(draft, JSON.stringify(lockFile), 0o644);
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
};
