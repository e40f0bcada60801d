import { migrate } from '../adapters/sql/migrate.js';
import { migrations } from '../adapters/sql/migrations/index.js';
import { openPool, type SessionLimits } from '../adapters/sql/pool.js';
import { checkSchema } from '../adapters/sql/schema-drift.js';
import { checkServer } from '../adapters/sql/server-check.js';

/**
 * Before anything else is done with the database: can it be used, is its schema this program's. Over a connection of its
 * own, which neither side cuts off: a step may be long, and whoever comes second waits for it.
 */
export const prepareDatabase = async (connectionString: string, limits: SessionLimits): Promise<void> => {
  const pool = openPool({
    ...limits,
    ...{ connectionString, max: 1, applicationName: 'nfse-migrations' },
    ...{ statementTimeoutMs: 0, lockTimeoutMs: 0 },
  });
  try {
    await checkServer(pool);
    await migrate(pool, migrations);
    await checkSchema(pool);
  } finally {
    await pool.end();
  }
};
