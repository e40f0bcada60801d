import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorCode } from './error-code.js';

/**
 * Writes and syncs under another name, then renames, so that the final name never shows a partial file, also after a power cut. Replaces an existing
 * file. `mode` is exact; without it an existing file keeps its mode, and the umask decides for a new one. An existing file keeps its owner when root
 * writes, because its owner has to read it later.
 */
export const writeWhole = async (path: string, content: string | Uint8Array, mode?: number): Promise<void> => {
  const draft = draftOf(path);
  await rm(draft, { force: true });
  await writeNew(draft, content, mode, async (handle) => {
    const before = await stat(path).catch(() => undefined);
    if (before === undefined) return;
    if (process.geteuid?.() === 0) await handle.chown(before.uid, before.gid);
    if (mode === undefined) await handle.chmod(before.mode & 0o777);
  });
  await rename(draft, path);
};

/**
 * Makes a file, complete and on the disk; fails where the name is taken, and leaves no part of a file. `mode` is exact; without it the umask decides.
 * The owner of the folder may put a link under the name at any moment, so `prepare` changes owner and mode through the handle alone.
 */
export const writeNew = async (
  path: string,
  content: string | Uint8Array,
  mode?: number,
  prepare?: (handle: FileHandle) => Promise<void>,
): Promise<void> => {
  const handle = await open(path, 'wx', mode);
  try {
    await handle.writeFile(content);
    if (mode !== undefined) await handle.chmod(mode);
    await prepare?.(handle);
    await handle.sync();
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
};

/** The name under which `writeWhole` writes; a write that was killed leaves it. */
export const draftOf = (path: string): string => `${path}.draft`;

/** Makes the names of a folder's files durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
};

/**
 * Makes the folder and those above that are missing. Returns the first one made; undefined when there was nothing to make, or when another process
 * made one at this moment. Node's recursive mkdir does not end where a file system refuses a folder by ENOENT, as /proc does.
 */
export const makeFolders = async (folder: string, mode = 0o777): Promise<string | undefined> => {
  const missing: string[] = [];
  for (let at = resolve(folder); !(await isThere(at)); at = dirname(at)) missing.unshift(at);
  let isOwn = true;
  for (const at of missing) isOwn = (await makeOne(at, mode)) && isOwn;
  return isOwn ? missing[0] : undefined;
};

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    },
  );

const makeOne = (path: string, mode: number): Promise<boolean> =>
  mkdir(path, { mode }).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === 'EEXIST') return false;
      throw error;
    },
  );

/** Makes the folder and proves that it takes files. Rejects with the fault of the file system. */
export const proveFolder = async (folder: string): Promise<void> => {
  // Processes of different containers have one id.
  const proof = join(folder, `.nfse-${randomUUID()}`);
  await makeFolders(folder);
  await writeFile(proof, '');
  await rm(proof);
};

/** The text of a file; undefined for a file that does not exist. */
export const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
