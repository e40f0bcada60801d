import type pg from 'pg';
import { sha256 } from '../../lib/sha256.js';
import { IS_HISTORY } from './belonging.js';
import { DatabaseUnsuitable } from './database-checks.js';

/** A step forward of the schema. Ids ascend and may have gaps; `sql` runs in one transaction. */
export type Migration = { id: number; name: string; sql: string };

/** Thrown when the migrations that the database ran are not the first ones of the list; nothing was changed. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Runs the migrations that the database lacks and returns their ids. An advisory lock lets several processes start at once. Throws
 * `MigrationError`, `DatabaseUnsuitable`, or PostgreSQL's error of a migration, which was then rolled back. Nothing is written when no migration is
 * missing, so a user who may only read the history can call it.
 */
export const migrate = async (pool: pg.Pool, migrations: readonly Migration[]): Promise<readonly number[]> => {
  // A process that was frozen while it held the lock must not hold up the start of others that have nothing to change.
  if ((await pendingMigrations(pool, migrations)).length === 0) return [];
  return await withSchemaLock(pool, async (client) => {
    if ((await findHistory(client)) === undefined) await client.query(HISTORY);
    const missing = unapplied(migrations, await appliedMigrations(client));
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ id }) => id);
  });
};

/** A session that holds the lock is idle only between two statements, so one that is idle for longer belongs to a frozen process. */
const FROZEN_AFTER = '60s';

/**
 * Runs `work` while no other process holds the lock of the schema, on a connection that is closed afterwards. The server sets no time limit; the pool may
 * give up earlier.
 */
export const withSchemaLock = async <T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  try {
    // A long migration must not be cut short, and other processes wait for its end.
    await client.query(`set statement_timeout = 0; set lock_timeout = 0; set idle_session_timeout = '${FROZEN_AFTER}'`);
    // The server ends the wait of a process that was killed; a server on a system without this check refuses the setting.
    await client.query(`set client_connection_check_interval = '10s'`).catch(() => undefined);
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    return await work(client);
  } finally {
    // Closing the session releases its lock and its settings.
    client.release(true);
  }
};

/** Ids that `migrate` would run; for health checks. Throws as `migrate` does. */
export const pendingMigrations = async (
  pool: pg.Pool,
  migrations: readonly Migration[],
): Promise<readonly number[]> => {
  const client = await pool.connect();
  try {
    const applied = (await findHistory(client)) === undefined ? [] : await appliedMigrations(client);
    return unapplied(migrations, applied).map(({ id }) => id);
  } finally {
    client.release();
  }
};

/**
 * The table of steps that the user's search path leads to, and whether it is the user's own; undefined before the first step. Throws
 * `DatabaseUnsuitable` when another program's table has its name in the schema where ours would be. In a later
 * schema of the search path such a table does not matter.
 */
export const findHistory = async (db: Pick<pg.Pool, 'query'>): Promise<{ isOwn: boolean } | undefined> => {
  const { rows } = await db.query<{ isOurs: boolean; isHere: boolean; isOwn: boolean }>(
    `select ${IS_HISTORY} as "isOurs", c.relnamespace = quote_ident(current_schema())::regnamespace as "isHere",
       pg_has_role(c.relowner, 'usage') as "isOwn"
     from pg_class c where c.oid = to_regclass('schema_migrations')`,
  );
  const found = rows[0];
  if (found === undefined) return undefined;
  if (found.isOurs) return { isOwn: found.isOwn };
  if (found.isHere) throw new DatabaseUnsuitable(ANOTHER);
  return undefined;
};

const ANOTHER =
  'the database belongs to another program, whose table schema_migrations it holds: check the name in DATABASE_URL';

/** A migration that a database ran. */
export type AppliedMigration = { id: number; name: string; checksum: string };

/** What a migrated database ran, in order. */
export const appliedMigrations = async (db: Pick<pg.Pool, 'query'>): Promise<readonly AppliedMigration[]> =>
  (await db.query<AppliedMigration>('select id, name, checksum from schema_migrations order by id')).rows;

const unapplied = (migrations: readonly Migration[], applied: readonly AppliedMigration[]): readonly Migration[] => {
  const known = new Map(migrations.map((migration) => [migration.id, migration]));
  migrations.forEach(({ id, name }, index) => {
    const before = migrations[index - 1];
    if (before !== undefined && before.id >= id) {
      throw new MigrationError(`migration ${id}-${name} comes after ${before.id}-${before.name}`);
    }
  });
  // Every version of this product knows the first step, so a history without any known step is another program's.
  if (applied.length > 0 && !applied.some(({ id, name }) => known.get(id)?.name === name))
    throw new DatabaseUnsuitable(ANOTHER);
  for (const { id, name, checksum } of applied) {
    const migration = known.get(id);
    if (migration === undefined) {
      throw new MigrationError(
        `the database has migration ${id}-${name}, which this version does not know: run a newer version`,
      );
    }
    if (checksum !== checksumOf(migration)) {
      throw new MigrationError(`migration ${id}-${migration.name} is not the one that the database ran (${name})`);
    }
  }
  const last = applied.at(-1)?.id ?? 0;
  const done = new Set(applied.map(({ id }) => id));
  const missing = migrations.filter(({ id }) => !done.has(id));
  const late = missing.find(({ id }) => id < last);
  if (late === undefined) return missing;
  throw new MigrationError(`migration ${late.id}-${late.name} was added below ${last}, which the database already ran`);
};

const apply = async (client: pg.PoolClient, migration: Migration): Promise<void> => {
  await client.query('begin');
  try {
    await client.query(migration.sql);
    await client.query('insert into schema_migrations (id, name, checksum) values ($1, $2, $3)', [
      migration.id,
      migration.name,
      checksumOf(migration),
    ]);
    await client.query('commit');
  } catch (error) {
    // A lost connection has nothing left to roll back.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
};

const checksumOf = ({ name, sql }: Migration): string => sha256(`${name}\n${sql}`, 'hex');

const HISTORY = `create table if not exists schema_migrations (
  id integer primary key, name text not null, checksum text not null)`;

/** An advisory lock that nothing else uses: the letters of "nfse". */
const LOCK = 0x6e667365;
