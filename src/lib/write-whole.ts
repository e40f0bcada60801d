import { chmod, open, rename, rm } from 'node:fs/promises';

/**
 * Writes and syncs under another name, then renames, so that the final name never shows a partial file, also after a power cut. Replaces an existing
 * file. `mode` is exact; without it the umask decides.
 */
export const writeWhole = async (path: string, text: string, mode?: number): Promise<void> => {
  const draft = `${path}.draft`;
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (mode !== undefined) await chmod(draft, mode);
  await rename(draft, path);
};
