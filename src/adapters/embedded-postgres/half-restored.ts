import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { draftOf, syncFolder, writeWhole } from '../../lib/files.js';
import { sha256 } from '../../lib/sha256.js';
import { MASTER_KEY_COPY } from './backup.js';
import { CONNECTION_FILE } from './connection-file.js';
import { CLUSTER_NAMES } from './data-dir.js';
import { EmbeddedPostgresError } from './error.js';
import { stopOrphan } from './orphan.js';

/** Name of the file that a data folder holds from before the first row of a restore until after the last one. */
export const RESTORING = 'restoring';

/** What a restore makes in a data folder, besides the copy of the master key, which stays. Each may be there before the next restore. */
export const MADE_BY_RESTORE: readonly string[] = [
  ...Object.values(CLUSTER_NAMES),
  CONNECTION_FILE,
  draftOf(CONNECTION_FILE),
  draftOf(RESTORING),
  draftOf(MASTER_KEY_COPY),
];

const markerOf = (dataDir: string): string => join(dataDir, RESTORING);

/** Whether a restore into this folder has begun and not ended: it runs, or it was killed. */
export const isHalfRestored = (dataDir: string): boolean => existsSync(markerOf(dataDir));

/** Throws `EmbeddedPostgresError` for a folder with a restore that has not ended, because its log may lack events or the pause. */
export const refuseHalfRestored = (dataDir: string): void => {
  if (!isHalfRestored(dataDir)) return;
  throw new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} holds a restore that has not ended: wait for its end; if it was interrupted, run nfse restore --from FOLDER again, which begins anew`,
  );
};

/**
 * Marks the folder durably, before anything of the restore is in it. The caller holds the folder's lock. A mark that is there keeps its note of the key.
 */
export const beginRestore = async (dataDir: string): Promise<void> => {
  if (!isHalfRestored(dataDir)) await writeWhole(markerOf(dataDir), '');
  await syncFolder(dataDir);
};

/** Notes in the mark, durably, that the key file with this text will be the backup's copy. The caller makes that file afterwards. */
export const noteKeyOfBackup = async (dataDir: string, text: string): Promise<void> => {
  await writeWhole(markerOf(dataDir), sha256(text, 'hex'));
  await syncFolder(dataDir);
};

/** Whether a restore that has not ended took this key file from a backup. Such a key confirms no backup; one that was put in its place since may. */
export const isKeyOfBackup = async (dataDir: string, masterKeyFile: string): Promise<boolean> => {
  const noted = await readFile(markerOf(dataDir), 'utf8').catch(() => '');
  const there = noted === '' ? undefined : await readFile(masterKeyFile, 'utf8').catch(() => undefined);
  return there !== undefined && sha256(there, 'hex') === noted;
};

/** Unmarks the folder, when what the restore made is either complete or gone. */
export const endRestore = async (dataDir: string): Promise<void> => {
  await syncFolder(dataDir);
  await rm(markerOf(dataDir), { force: true });
  await syncFolder(dataDir);
};

/**
 * Removes what a restore has made in the folder, and stops the server that it left running; throws as `stopOrphan`. The caller holds the folder's
 * lock.
 */
export const discardRestored = async (dataDir: string): Promise<void> => {
  await stopOrphan(dataDir, () => undefined);
  for (const name of MADE_BY_RESTORE) await rm(join(dataDir, name), { recursive: true, force: true });
};
