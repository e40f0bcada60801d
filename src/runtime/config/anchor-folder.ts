import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { makeFolders } from '../../lib/make-folders.js';

/** The folder of anchors takes no file. The message is for a person; the cause says why. */
export class AnchorFolderUnusable extends Error {
  override readonly name = 'AnchorFolderUnusable';
}

/** Makes the folder of anchors and proves that it takes files. Throws `AnchorFolderUnusable`. */
export const proveAnchorFolder = async (folder: string): Promise<void> => {
  // Processes of different containers have one id.
  const proof = join(folder, `.nfse-${randomUUID()}`);
  try {
    await makeFolders(folder);
    await writeFile(proof, '');
    await rm(proof);
  } catch (cause) {
    const code = errorCode(cause) ?? 'unknown fault';
    const cure = 'name a folder that the service may make and write';
    throw new AnchorFolderUnusable(`ANCHOR_DIR ${folder} takes no file (${code}): ${cure}`, { cause });
  }
};
