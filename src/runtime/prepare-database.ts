import type pg from 'pg';
import { MigrationError, migrate, pendingMigrations } from '../adapters/sql/migrate.js';
import { migrations } from '../adapters/sql/migrations/index.js';
import { openPool, type SessionLimits } from '../adapters/sql/pool.js';
import { grantService } from '../adapters/sql/rights.js';
import { checkSchema } from '../adapters/sql/schema-drift.js';
import { checkServer } from '../adapters/sql/server-check.js';
import { counted } from '../cli/text.js';
import type { DatabaseAddresses } from './database-server.js';

/**
 * Before anything else is done with the database: can it be used, is its schema this program's. The owner makes the schema's steps
 * and grants the service its rights; without an owner the service's user makes them, or is told that it may not.
 */
export const prepareDatabase = async (
  { service, owner }: DatabaseAddresses,
  limits: SessionLimits,
): Promise<readonly number[]> => {
  if (owner === undefined) return await withPool(service, limits, prepareAlone);
  return await withPool(owner, limits, async (pool) => {
    await checkServer(pool);
    const serviceUser = await withPool(service, limits, userOf);
    if (serviceUser === (await userOf(pool))) throw new MigrationError(ONE_USER);
    await checkOwner(pool);
    const made = await migrate(pool, migrations);
    await grantService(pool, serviceUser);
    await checkSchema(pool);
    return made;
  });
};

const ONE_USER = 'DATABASE_URL and DATABASE_OWNER_URL name one user: the service must not be the owner of its tables';

const prepareAlone = async (pool: pg.Pool): Promise<readonly number[]> => {
  await checkServer(pool);
  const missing = await pendingMigrations(pool, migrations);
  if (missing.length > 0 && !(await mayCreate(pool)))
    throw new MigrationError(
      `the database lacks ${counted(missing.length, 'step')} of its schema, which the user of DATABASE_URL may not make: run nfse setup database, or set DATABASE_OWNER_URL`,
    );
  const made = await migrate(pool, migrations);
  await checkSchema(pool);
  return made;
};

/** Over a connection of its own, which neither side cuts off: a step may be long, and whoever comes second waits for it. */
const withPool = async <T>(
  connectionString: string,
  limits: SessionLimits,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> => {
  const pool = openPool({
    ...limits,
    ...{ connectionString, max: 1, applicationName: 'nfse-migrations' },
    ...{ statementTimeoutMs: 0, lockTimeoutMs: 0 },
  });
  return await work(pool).finally(() => pool.end());
};

const mayCreate = async (pool: pg.Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ may: boolean }>(`select has_schema_privilege(current_schema(), 'create') as may`);
  return rows[0]?.may === true;
};

const checkOwner = async (pool: pg.Pool): Promise<void> => {
  const { rows } = await pool.query<{ foreign: boolean }>(
    `select not pg_has_role(relowner, 'usage') as foreign from pg_class where oid = to_regclass('schema_migrations')`,
  );
  if (rows[0]?.foreign === true)
    throw new MigrationError('the user of DATABASE_OWNER_URL does not own the tables: run nfse setup database');
};

const userOf = async (pool: pg.Pool): Promise<string> =>
  (await pool.query<{ name: string }>('select current_user as name')).rows[0]?.name ?? '';
