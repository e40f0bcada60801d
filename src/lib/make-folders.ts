import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorCode } from './error-code.js';

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
