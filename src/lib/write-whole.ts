import { chmod, chown, open, rename, rm, stat, writeFile } from 'node:fs/promises';

/**
 * Writes and syncs under another name, then renames, so that the final name never shows a partial file, also after a power cut. Replaces an existing
 * file. `mode` is exact; without it the umask decides. An existing file keeps its owner when root writes, because its owner has to read it later.
 */
export const writeWhole = async (path: string, text: string, mode?: number): Promise<void> => {
  const draft = draftOf(path);
  await rm(draft, { force: true });
  await writeFile(draft, text, { flag: 'wx', mode, flush: true });
  if (mode !== undefined) await chmod(draft, mode);
  const before = process.geteuid?.() === 0 ? await stat(path).catch(() => undefined) : undefined;
  if (before !== undefined) await chown(draft, before.uid, before.gid);
  await rename(draft, path);
};

/** The name under which `writeWhole` writes; a write that was killed leaves it. */
export const draftOf = (path: string): string => `${path}.draft`;

/** Makes the names of a folder's files durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
};
