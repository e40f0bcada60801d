import { constants, existsSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BackupManifest, BackupRefused, MASTER_KEY_COPY } from '../../adapters/embedded-postgres/backup.js';
import { loadMasterKeys, MasterKeyUnusable, makeKeyFile, parseKeys } from '../../adapters/vault/key-file.js';
import { forgetOtherKeys, noteKeysOfBackup } from '../../adapters/vault/key-origin.js';
import type { MasterKey, MasterKeys } from '../../adapters/vault/master-key.js';
import { errorCode } from '../../lib/error-code.js';
import { makeFolders } from '../../lib/files.js';

/** Loads the keys of this file, which must be there. */
export const loadOnly = (file: string) => (): Promise<MasterKeys> => loadMasterKeys(file, { createIfMissing: false });

/** Empty for a key file that cannot be used: the restore reports that file at its end. */
export const keysAtHand = async (masterKeyFile: string): Promise<readonly MasterKey[]> => {
  try {
    return await loadOnly(masterKeyFile)();
  } catch (error) {
    if (error instanceof MasterKeyUnusable) return [];
    throw error;
  }
};

/** The backup's copy of the key file; undefined without one, and where a key file is there, which stays. */
export const copyToPut = async (
  from: string,
  { masterKey }: BackupManifest,
  masterKeyFile: string,
): Promise<string | undefined> =>
  masterKey === 'absent' || existsSync(masterKeyFile) ? undefined : await readFile(join(from, MASTER_KEY_COPY), 'utf8');

/** Throws `BackupRefused` before a restore whose key could not be put at its end. A folder that is not there is made then. */
export const refuseUnwritable = async ({ masterKey }: BackupManifest, masterKeyFile: string): Promise<void> => {
  const folder = dirname(masterKeyFile);
  if (masterKey === 'absent' || existsSync(masterKeyFile) || !existsSync(folder)) return;
  await access(folder, constants.W_OK).catch((error: unknown) => {
    throw new BackupRefused(
      `MASTER_KEY_FILE ${masterKeyFile} cannot be made (${errorCode(error) ?? 'unknown error'}), and the backup has a copy of the key: let this user write to ${folder}, or put your own copy there first`,
    );
  });
};

/** Makes the key file of the backup's copy, and notes where the keys are from. Replaces no file that another command has made meanwhile. */
export const putMasterKey = async (masterKeyFile: string, copy: string): Promise<void> => {
  await makeFolders(dirname(masterKeyFile));
  // The note of such a file stays too.
  if (existsSync(masterKeyFile)) return;
  await noteKeysOfBackup(masterKeyFile, keysIn(masterKeyFile, copy));
  try {
    await makeKeyFile(masterKeyFile, copy);
  } finally {
    // Another restore of the same backup may have put the key, and a failure may come after the file has its name.
    await forgetOtherKeys(masterKeyFile, await keysAtHand(masterKeyFile));
  }
};

/** Empty for a text that is no key file, which the start of the service refuses. */
const keysIn = (file: string, text: string): readonly MasterKey[] => {
  try {
    return parseKeys(file, text);
  } catch (error) {
    if (error instanceof MasterKeyUnusable) return [];
    throw error;
  }
};
