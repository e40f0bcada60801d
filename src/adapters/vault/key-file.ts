import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { draftOf, syncFolder, writeNew } from '../../lib/files.js';
import { isDenied, otherOwner } from '../../lib/other-owner.js';
import {
  byGeneration,
  generationNumber,
  KEY_BYTES,
  type MasterKey,
  type MasterKeys,
  nextGeneration,
} from './master-key.js';

/** Thrown when the file is missing, holds no keys, or may be read by others; the message names the file and what to do. */
export class MasterKeyUnusable extends Error {
  override readonly name = 'MasterKeyUnusable';
}

/**
 * The generations of the master key from a file that only its owner may read: `m2:BASE64`, one a line; the first may lack its name. With
 * `createIfMissing` a missing file is made; of several processes that start at once, one makes the key. Throws `MasterKeyUnusable`.
 */
export const loadMasterKeys = async (
  file: string,
  { createIfMissing }: { createIfMissing: boolean },
): Promise<MasterKeys> => {
  const found = await readKeys(file);
  if (found !== undefined) return found.keys;
  if (!createIfMissing) throw missing(file);
  await createFile(file, `${freshKey()}\n`);
  const created = await readKeys(file);
  if (created === undefined) throw vanished(file);
  return created.keys;
};

const vanished = (file: string): MasterKeyUnusable =>
  new MasterKeyUnusable(`the master key file ${file} vanished while it was made`);

const missing = (file: string): MasterKeyUnusable =>
  new MasterKeyUnusable(
    `the master key file ${file} is missing: restore your copy; for a new installation nfse master-key add ${file} --generation m1 makes it`,
  );

type KeyFileLock = { kind: 'taken'; release(): Promise<void> } | { kind: 'busy'; processId: number | undefined };

type Adding = {
  /** The name; without one the generation gets the name after those of the file and of the `registered` ones. */
  named?: string | undefined;
  registered?: readonly { generation: string }[];
  /** Takes the lock that this folder is. The lock of a process that was killed does not count. */
  takeLock(folder: string, options: { waitMs: number }): Promise<KeyFileLock>;
};

/**
 * Adds a generation to the key file and returns its name. A missing file is made when the generation is named. The key seals nothing before it is
 * activated. Commands that add at once take turns, so that each adds to what the one before has written. Throws `MasterKeyUnusable`.
 */
export const addMasterKey = async (file: string, { named, registered = [], takeLock }: Adding): Promise<string> => {
  if (named !== undefined && generationNumber(named) === undefined)
    throw new MasterKeyUnusable(`${named} is no name of a generation: m1, m2, and so on`);
  // A rename over a symbolic link would replace the link, and leave the file that others read as it was.
  const target = await realpath(file).catch(() => file);
  const adding = { named, registered };
  // Before the lock too: a refusal needs no right to write, and leaves no folder.
  nameOf(file, await readKeys(target, file), adding);
  const lock = await writing(file, async () => {
    await makeLockFolder(target);
    return await lockOf(lockFolderOf(target), takeLock);
  });
  if (lock.kind === 'busy') throw inUse(file, lock.processId);
  try {
    return await addUnderLock(file, target, adding);
  } finally {
    // The end of the process frees the lock too.
    await lock.release().catch(() => undefined);
  }
};

type Named = { named: string | undefined; registered: readonly { generation: string }[] };

/** The name of the generation that is added to these keys. Throws `MasterKeyUnusable` where none can be added. */
const nameOf = (file: string, found: FoundKeys | undefined, { named, registered }: Named): string => {
  if (found === undefined) {
    if (named === undefined) throw missing(file);
    return named;
  }
  const [newest] = found.keys;
  const generation = named ?? nextGeneration([newest, ...registered]);
  if (byGeneration({ generation }, newest) >= 0)
    throw new MasterKeyUnusable(`the master key file ${file} holds ${newest.generation}: name a later generation`);
  return generation;
};

/** A command writes for some milliseconds; one that was stopped by a signal keeps its turn. */
const TURN_MS = 10_000;

const inUse = (file: string, processId: number | undefined): MasterKeyUnusable =>
  new MasterKeyUnusable(
    `the master key file ${file} is being written by ${processId === undefined ? 'a process of another container' : `process ${processId}`}: wait for its end, or stop that process`,
  );

/** The folder that is the lock of this key file. It holds nothing secret, and stays. */
export const lockFolderOf = (file: string): string => `${file}.lock`;

/**
 * Root may add to the file of another user, whose next command needs the lock too. Root makes the folder as that user: a chown could give away a folder
 * of root that the user has put under the name.
 */
const makeLockFolder = async (target: string): Promise<void> => {
  const folder = lockFolderOf(target);
  const owner = await stat(target).catch(() => stat(dirname(target)));
  if (!makeAs(owner, folder))
    await mkdir(folder, { mode: 0o755 }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  // A link could lead root into another folder.
  if (!(await lstat(folder)).isDirectory())
    throw new MasterKeyUnusable(`the lock ${folder} of the master key file is no folder: move away what has this name`);
};

/** Whether root has made the folder as this user. False too where the user may not write there, who then cannot add to the file either. */
const makeAs = ({ uid, gid }: { uid: number; gid: number }, folder: string): boolean => {
  const { geteuid, getegid, seteuid, setegid } = process;
  if (geteuid?.() !== 0 || uid === 0 || getegid === undefined || seteuid === undefined || setegid === undefined)
    return false;
  const ownGroup = getegid();
  try {
    setegid(gid);
    seteuid(uid);
    mkdirSync(folder, 0o755);
    return true;
  } catch {
    return false;
  } finally {
    seteuid(0);
    setegid(ownGroup);
  }
};

const lockOf = async (folder: string, takeLock: Adding['takeLock']): Promise<KeyFileLock> => {
  try {
    return await takeLock(folder, { waitMs: TURN_MS });
  } catch (error) {
    // Commands take no turns there; each looks before its rename whether the file was changed.
    if (isWithoutLinks(error)) return { kind: 'taken', release: async () => undefined };
    if (errorCode(error) !== 'EACCES') throw error;
    const cure = 'remove that folder while no command runs';
    const name = `the lock ${folder} of the master key file`;
    const advice = await otherOwner(folder, { name, advice: () => cure });
    throw new MasterKeyUnusable(advice ?? `${name} takes no file of this user: ${cure}`);
  }
};

/** Whether a link failed because the file system has no hard links. */
const isWithoutLinks = (error: unknown): boolean =>
  ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errorCode(error) ?? '');

const addUnderLock = async (file: string, target: string, adding: Named): Promise<string> => {
  let found = await readKeys(target, file);
  if (found === undefined) {
    const first = nameOf(file, found, adding);
    if (await createFile(file, `${first}:${freshKey()}\n`)) return first;
    // A start of the service, which takes no lock because a link replaces nothing, has made the file in between.
    found = await readKeys(target, file);
    if (found === undefined) throw vanished(file);
  }
  const generation = nameOf(file, found, adding);
  await writing(file, () => replaceKeys(file, target, found, generation));
  return generation;
};

/** Puts all lines of the file and a new one in the place of the file. */
const replaceKeys = async (
  file: string,
  target: string,
  { text, uid, gid }: FoundKeys,
  generation: string,
): Promise<void> => {
  await removeDrafts(target);
  // The file keeps its owner, the user of the service, also when another user runs the command.
  const draft = await writeDraft(target, `${text.trimEnd()}\n${generation}:${freshKey()}\n`, (handle) =>
    handle.chown(uid, gid),
  );
  try {
    // An operator who moves a copy into this place takes no lock.
    if ((await readKeys(target, file))?.text !== text) throw changedMeanwhile(file);
    await rename(draft, target);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    // The end of a restore removes drafts beside the file.
    throw errorCode(error) === 'ENOENT' ? changedMeanwhile(file) : error;
  }
  await syncFolder(dirname(target));
};

const changedMeanwhile = (file: string): MasterKeyUnusable =>
  new MasterKeyUnusable(`the master key file ${file} was changed meanwhile: run the command again`);

const freshKey = (): string => randomBytes(KEY_BYTES).toString('base64');

type FoundKeys = { keys: MasterKeys; text: string; uid: number; gid: number };

/**
 * Text and owner are those of one file, whatever the owner of the folder puts under its name meanwhile. `named` is the file that messages name.
 */
const readKeys = async (file: string, named = file): Promise<FoundKeys | undefined> => {
  try {
    const handle = await open(file, 'r');
    try {
      const { mode, uid, gid } = await handle.stat();
      refuseShared(named, mode);
      const text = await handle.readFile('utf8');
      return { keys: parseKeys(named, text), text, uid, gid };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof MasterKeyUnusable) throw error;
    const code = errorCode(error);
    if (code === 'ENOENT') return undefined;
    const what = `the master key file ${named}`;
    const advice = isDenied(error) ? await otherOwner(named, { name: what }) : undefined;
    throw new MasterKeyUnusable(advice ?? `${what} cannot be read (${code ?? 'unknown error'})`);
  }
};

const refuseShared = (file: string, mode: number): void => {
  if ((mode & 0o077) !== 0)
    throw new MasterKeyUnusable(`the master key file ${file} may be read by others: set its mode to 0600`);
};

/** Why the keys of this file cannot be used, in one line; undefined for usable ones. Throws what the system throws for a file that cannot be read. */
export const keyFileProblem = (file: string): string | undefined => {
  try {
    refuseShared(file, statSync(file).mode);
    parseKeys(file, readFileSync(file, 'utf8'));
    return undefined;
  } catch (error) {
    if (error instanceof MasterKeyUnusable) return error.message;
    throw error;
  }
};

/** The generations in the text of a key file; `file` is the one that messages name. Throws `MasterKeyUnusable`. */
export const parseKeys = (file: string, text: string): MasterKeys => {
  const unusable = (why: string): MasterKeyUnusable => new MasterKeyUnusable(`the master key file ${file} ${why}`);
  const keys = text
    .trim()
    .split(/\s*\n\s*/)
    .map((line): MasterKey => {
      const [, generation = 'm1', base64 = ''] = /^(?:(m\d+):)?(.*)$/.exec(line) ?? [];
      const key = Buffer.from(base64, 'base64');
      const isKey = key.length === KEY_BYTES && key.toString('base64') === base64;
      if (!isKey || generationNumber(generation) === undefined) {
        throw unusable('must hold 32 bytes in base64 and nothing else, or one line mN:BASE64 for each generation');
      }
      return { generation, key };
    });
  const names = new Set(keys.map(({ generation }) => generation));
  const values = new Set(keys.map(({ key }) => key.toString('hex')));
  if (names.size < keys.length) throw unusable('names a generation twice');
  if (values.size < keys.length) throw unusable('holds one key under two names');
  const [newest, ...older] = keys.sort(byGeneration);
  if (newest === undefined) throw unusable('is empty');
  return [newest, ...older];
};

/**
 * Makes the key file with this text. False where a file has the name already, which stays. The file is on the disk before it gets its name: a key that
 * was used and then lost in a power cut would lose data. Throws what the system throws.
 */
export const makeKeyFile = async (file: string, text: string): Promise<boolean> => {
  const draft = await writeDraft(file, text);
  const isMade = await putFirst(draft, file, text).finally(() => unlink(draft).catch(() => undefined));
  await removeDrafts(file);
  if (isMade) await syncFolder(dirname(file));
  return isMade;
};

/** Unlike a rename, a link never replaces the key that another process made. That process removes this draft once the file is there. */
const putFirst = async (draft: string, file: string, text: string): Promise<boolean> => {
  try {
    await link(draft, file).catch(async (error: unknown) => {
      if (!isWithoutLinks(error) || existsSync(file)) throw error;
      // Another process may read a part, which is no key, and is refused then.
      await writeNew(file, text, 0o600);
    });
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' && !existsSync(file)) throw error;
    return false;
  }
};

const createFile = (file: string, text: string): Promise<boolean> => writing(file, () => makeKeyFile(file, text));

/**
 * Removes the drafts that killed commands have left beside the file, each with keys in clear, and those of commands at work, which end without a
 * change then. To be called while the file is there. A draft that cannot be removed stays, and stops no command.
 */
export const removeDrafts = async (file: string): Promise<void> => {
  const folder = dirname(file);
  for (const other of await readdir(folder).catch((): string[] => []))
    if (isKeyDraft(other, basename(file))) await rm(join(folder, other), { force: true }).catch(() => undefined);
};

/** Whether a file of this name, beside the key file, is a draft that a killed command may have left. */
export const isKeyDraft = (name: string, keyFile: string): boolean =>
  name.startsWith(`${keyFile}.`) && DRAFT.test(name.slice(keyFile.length + 1));

/** What a draft has after the name of its file and a dot. Without the last word a copy that an operator named by its minute could have such a name. */
const DRAFT = /^[0-9a-f]{12}\.draft$/;

const writing = async <T>(file: string, write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (error instanceof MasterKeyUnusable) throw error;
    const code = errorCode(error) ?? 'unknown error';
    const cure = code === 'EBUSY' ? ': where the file alone is mounted, mount its folder' : '';
    throw new MasterKeyUnusable(`the master key file ${file} cannot be made (${code})${cure}`);
  }
};

/** Writes the text to a new file beside `file`, complete and on the disk. Returns its name. */
const writeDraft = async (
  file: string,
  text: string,
  prepare?: (handle: FileHandle) => Promise<void>,
): Promise<string> => {
  const draft = draftOf(`${file}.${randomBytes(6).toString('hex')}`);
  await writeNew(draft, text, 0o600, prepare);
  return draft;
};
