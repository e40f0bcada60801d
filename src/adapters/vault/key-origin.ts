import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../lib/error-code.js';
import { syncFolder, writeWhole } from '../../lib/files.js';
import { type MasterKey, masterKeyId } from './master-key.js';

/** The file beside the key file that names the keys which a restore took from a backup, by id. The key file itself has no place for that. */
export const originFileOf = (file: string): string => `${file}.from-backup`;

/** Notes durably that the keys of this file are those of a backup. The caller makes the key file afterwards. */
export const noteKeysOfBackup = async (file: string, keys: readonly MasterKey[]): Promise<void> => {
  await writeWhole(originFileOf(file), `${keys.map(({ key }) => masterKeyId(key)).join('\n')}\n`, 0o644);
  await syncFolder(dirname(file));
};

/** Whether a restore took this key of the file from a backup. A note that cannot be read counts for every key. */
export const isNotedOfBackup = async (file: string, { key }: MasterKey): Promise<boolean> => {
  try {
    return (await readFile(originFileOf(file), 'utf8')).split('\n').includes(masterKeyId(key));
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
};

/** Removes the note where it names none of these keys, which are those of the file. Without a key, as of a file that cannot be read, the note stays. */
export const forgetOtherKeys = async (file: string, keys: readonly MasterKey[]): Promise<void> => {
  for (const key of keys) if (await isNotedOfBackup(file, key)) return;
  if (keys.length > 0) await rm(originFileOf(file), { force: true });
};
