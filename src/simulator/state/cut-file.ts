import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

const CHUNK_BYTES = 1 << 20;

/**
 * Puts the line `head` in the place of everything before the byte `from`. Whatever happens meanwhile, the file is the old one or the
 * new one, whole and on the disk.
 */
export const cutFile = async (path: string, from: number, head: string): Promise<void> => {
  const fresh = `${path}.new`;
  const [source, target] = [await open(path, 'r'), await open(fresh, 'w', 0o600)];
  try {
    await target.writeFile(`${head}\n`);
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = from; ; ) {
      const { bytesRead } = await source.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) break;
      // Goes on behind what was written, and writes all of it.
      await target.writeFile(chunk.subarray(0, bytesRead));
      at += bytesRead;
    }
    await target.sync();
  } finally {
    await source.close();
    await target.close();
  }
  await rename(fresh, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
