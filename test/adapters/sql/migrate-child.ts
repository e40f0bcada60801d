import { migrate } from '../../../src/adapters/sql/migrate.js';
import { migrations } from '../../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../../src/adapters/sql/pool.js';

/** One of several processes that start at the same time on DATABASE_URL; prints the migrations that this process ran. */
const { DATABASE_URL = '' } = process.env;
const pool = openPool({
  connectionString: DATABASE_URL,
  max: 1,
  applicationName: 'migrate-child',
  statementTimeoutMs: 0,
});
// Long enough that the others come while the first one is at work.
const slow = { id: 10_000, name: 'slow', sql: 'select pg_sleep(1); create table slow ()' };
const ran = await migrate(pool, [...migrations, slow]);
await pool.end();
process.stdout.write(`${JSON.stringify({ msg: 'ready', ran })}\n`);
