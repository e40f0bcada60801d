import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';

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
