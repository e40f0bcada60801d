import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from './make-folders.js';

/** Makes the folder and proves that it takes files. Rejects with the fault of the file system. */
export const proveFolder = async (folder: string): Promise<void> => {
  // Processes of different containers have one id.
  const proof = join(folder, `.nfse-${randomUUID()}`);
  await makeFolders(folder);
  await writeFile(proof, '');
  await rm(proof);
};
