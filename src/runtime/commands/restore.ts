import { BackupRefused } from '../../adapters/embedded-postgres/backup-manifest.js';
import type { Restore } from '../../cli/commands/restore.js';
import { restoreInto } from '../backup.js';
import { systemClock } from '../clock.js';
import type { Config } from '../config.js';

/** Into the DATA_DIR of the environment, on which nothing may run. */
export const restoreOf =
  (config: () => Config): Restore =>
  async (from, onProgress) => {
    const { dataDir, masterKeyFile } = config();
    try {
      return { done: await restoreInto(config(), from, systemClock, onProgress), dataDir, masterKeyFile };
    } catch (error) {
      if (error instanceof BackupRefused) return { refused: error.message };
      throw error;
    }
  };
