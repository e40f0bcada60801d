import { rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endServerNow } from '../../adapters/embedded-postgres/orphan.js';
import { errorCode } from '../../lib/error-code.js';

/** A process that has just ended may have made a file while the folder was being removed. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

/** Gives `work` a data folder that is removed afterwards, also at an exit before `work` has ended; a database that runs there is ended then. */
export const inThrowawayFolder = async <T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  const removeAtExit = (): void => removeNow(folder);
  process.once('exit', removeAtExit);
  try {
    // When run as root, the database runs as another user, who must be able to pass through this folder.
    await chmod(folder, 0o711);
    return await work(folder);
  } finally {
    // A fault leaves the removal to the exit.
    await rm(folder, REMOVAL);
    process.removeListener('exit', removeAtExit);
  }
};

/** Nothing else tells of a fault: this process is at its end. */
const removeNow = (folder: string): void => {
  try {
    endServerNow(folder);
    rmSync(folder, REMOVAL);
  } catch (error) {
    process.stderr.write(`the folder ${folder} was not removed (${errorCode(error) ?? 'unknown fault'}): remove it\n`);
  }
};
