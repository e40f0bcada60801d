import { readEmbeddedAddresses } from '../../adapters/embedded-postgres/connection-file.js';
import { overPool } from '../../adapters/sql/pool.js';
import { listGenerations, type RegisteredKey } from '../../adapters/vault/key-registry.js';
import type { Config } from '../config/config.js';

/** `master-key add` also works where no database is, so it waits for one only so long. */
const ANSWER_MS = 2_000;

/** The generations of the master key that the database knows; none where no database answers. Starts no database. */
export const registeredGenerations = async (config: () => Config): Promise<readonly RegisteredKey[]> => {
  try {
    const { databaseUrl, dataDir, database } = config();
    const connectionString = databaseUrl ?? (await embedded(dataDir));
    if (connectionString === undefined) return [];
    const limits = { ...database.limits, connectTimeoutMs: ANSWER_MS, statementTimeoutMs: ANSWER_MS };
    return await overPool({ ...limits, connectionString, applicationName: 'nfse-key-names' }, listGenerations);
  } catch {
    return [];
  }
};

const embedded = async (dataDir: string): Promise<string | undefined> => {
  const found = await readEmbeddedAddresses(dataDir);
  return typeof found === 'object' ? found.service : undefined;
};
