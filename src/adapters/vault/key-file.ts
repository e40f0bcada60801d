import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, link, open, readdir, realpath, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { isDenied, otherOwner } from '../../lib/other-owner.js';
import { draftOf, syncFolder, writeNew } from '../../lib/write-whole.js';
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
  if (created === undefined) throw new MasterKeyUnusable(`the master key file ${file} vanished while it was made`);
  return created.keys;
};

const missing = (file: string): MasterKeyUnusable =>
  new MasterKeyUnusable(
    `the master key file ${file} is missing: restore your copy; for a new installation nfse master-key add ${file} --generation m1 makes it`,
  );

/**
 * Adds a generation to the key file and returns its name: the one after those of the file and of the `registered` ones unless another is named. A
 * missing file is made when one is named. The key seals nothing before it is activated. Throws `MasterKeyUnusable`.
 */
export const addMasterKey = async (
  file: string,
  named?: string,
  registered: readonly { generation: string }[] = [],
): Promise<string> => {
  if (named !== undefined && generationNumber(named) === undefined)
    throw new MasterKeyUnusable(`${named} is no name of a generation: m1, m2, and so on`);
  // A rename over a symbolic link would replace the link, and leave the file that others read as it was.
  const target = await realpath(file).catch(() => file);
  const found = await readKeys(target, file);
  if (found === undefined) {
    if (named === undefined) throw missing(file);
    await createFile(file, `${named}:${freshKey()}\n`);
    return named;
  }
  const [newest] = found.keys;
  const generation = named ?? nextGeneration([newest, ...registered]);
  if (byGeneration({ generation }, newest) >= 0)
    throw new MasterKeyUnusable(`the master key file ${file} holds ${newest.generation}: name a later generation`);
  await writing(file, async () => {
    const { uid, gid } = found;
    await removeDrafts(target);
    // The file keeps its owner, the user of the service, also when another user runs the command.
    const text = `${found.text.trimEnd()}\n${generation}:${freshKey()}\n`;
    const draft = await writeDraft(target, text, (handle) => handle.chown(uid, gid));
    await rename(draft, target).catch((error: unknown) => unlink(draft).then(() => Promise.reject(error)));
  });
  return generation;
};

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

/** The file is on the disk before it gets its name. A key that was used and then lost in a power cut would lose data. */
const createFile = (file: string, text: string): Promise<void> =>
  writing(file, async () => {
    const draft = await writeDraft(file, text);
    // Unlike a rename, a link never replaces the key that another process made. That process removes this draft once the file is there.
    await link(draft, file).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST' && !existsSync(file)) throw error;
    });
    await removeDrafts(file);
  });

/**
 * Removes the drafts that killed commands have left beside the file, each with keys in clear, and those of commands at work, which end without a
 * change then. To be called while the file is there. A draft that cannot be removed stays, and stops no command.
 */
const removeDrafts = async (file: string): Promise<void> => {
  const folder = dirname(file);
  for (const other of await readdir(folder).catch((): string[] => []))
    if (isKeyDraft(other, basename(file))) await rm(join(folder, other), { force: true }).catch(() => undefined);
};

/** Whether a file of this name, beside the key file, is a draft that a killed command may have left. */
export const isKeyDraft = (name: string, keyFile: string): boolean =>
  name.startsWith(`${keyFile}.`) && DRAFT.test(name.slice(keyFile.length + 1));

/** What a draft has after the name of its file and a dot. Without the last word a copy that an operator named by its minute could have such a name. */
const DRAFT = /^[0-9a-f]{12}\.draft$/;

const writing = async (file: string, write: () => Promise<void>): Promise<void> => {
  try {
    await write();
    await syncFolder(dirname(await realpath(file)));
  } catch (error) {
    throw new MasterKeyUnusable(`the master key file ${file} cannot be made (${errorCode(error) ?? 'unknown error'})`);
  }
};

/** Writes the text to a new file beside `file`, complete and on the disk. Returns its name. */
const writeDraft = async (
  file: string,
  text: string,
  prepare?: (handle: FileHandle) => Promise<void>,
): Promise<string> => {
  const draft = draftOf(`${file}.${randomBytes(6).toString('hex')}`);
  try {
    await writeNew(draft, text, 0o600, prepare);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  return draft;
};
