import { errorCode } from '../../lib/error-code.js';
import { proveFolder } from '../../lib/files.js';

/** The folder of anchors takes no file. The message is for a person; the cause says why. */
export class AnchorFolderUnusable extends Error {
  override readonly name = 'AnchorFolderUnusable';
}

/** Makes the folder of anchors and proves that it takes files. Throws `AnchorFolderUnusable`. */
export const proveAnchorFolder = async (folder: string): Promise<void> => {
  try {
    await proveFolder(folder);
  } catch (cause) {
    const code = errorCode(cause) ?? 'unknown fault';
    const cure = 'name a folder that the service may make and write';
    throw new AnchorFolderUnusable(`ANCHOR_DIR ${folder} takes no file (${code}): ${cure}`, { cause });
  }
};
