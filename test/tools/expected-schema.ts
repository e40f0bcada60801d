/**
 * Writes down what the migrations make, for the check at start-up: node --import tsx test/tools/expected-schema.ts
 * To be run after a migration was added; a test fails until then.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schemaLines } from '../../src/adapters/sql/database-checks.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { migrations } from '../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { startLockedPostgres } from '../support/locked-postgres.js';

const FILE = new URL('../../src/adapters/sql/expected-schema.txt', import.meta.url);

const folder = await mkdtemp(join(tmpdir(), 'nfse-schema-'));
// As root the server runs as another user, who has to walk through.
await chmod(folder, 0o711);
const server = await startLockedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
const pool = openPool({ connectionString: server.ownerConnectionString, max: 1, applicationName: 'expected-schema' });
try {
  await migrate(pool, migrations);
  await writeFile(FILE, `${(await schemaLines(pool)).join('\n')}\n`);
} finally {
  await pool.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
