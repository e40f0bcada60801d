import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { describe, inject } from 'vitest';
import { openPool } from '../../src/adapters/sql/pool.js';
import type { PostgresOfRun } from './global-setup.js';

const server: PostgresOfRun = inject('postgres');

/** A suite that needs PostgreSQL; skipped by name when the run has none (global setup fails it under REQUIRE_ENGINES). */
export const describeWithPostgres = (name: string, suite: () => void): void => {
  if (server.kind === 'running') describe(name, suite);
  else describe.skip(`${name} [no postgres: ${server.reason}]`, suite);
};

export type FreshDatabase = {
  connectionString: string;
  pool: pg.Pool;
  /** Empties every table and puts the rows back that the migrations had made. */
  reset(): Promise<void>;
  /** Ends every other connection to this database, as a restart of the server would. */
  breakConnections(): Promise<void>;
  close(): Promise<void>;
};

/** A migrated database of this caller alone, copied from the run's template. Never dropped: the server goes as a whole. */
export const freshDatabase = (): Promise<FreshDatabase> => createDatabase((running) => running.template);

/** The same without any table: for tests of the migrations. */
export const emptyDatabase = (): Promise<FreshDatabase> => createDatabase(() => 'template0');

const createDatabase = async (
  templateOf: (running: PostgresOfRun & { kind: 'running' }) => string,
): Promise<FreshDatabase> => {
  if (server.kind === 'absent') throw new Error(`no postgres: ${server.reason}`);
  const name = `nfse_test_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool({ connectionString: server.url, max: 1, applicationName: 'test-admin' });
  await admin.query(`create database ${name} template ${templateOf(server)}`).finally(() => admin.end());
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const pool = openPool({ connectionString: url.href, max: 4, applicationName: 'test' });
  const seeds = await seedRows(pool);
  return {
    connectionString: url.href,
    pool,
    reset: () => reset(pool, seeds),
    breakConnections: async () => {
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
    },
    close: () => pool.end(),
  };
};

type Seed = { table: string; rows: string };

const tablesOf = async (pool: pg.Pool): Promise<string[]> =>
  (
    await pool.query<{ table: string }>(
      `select format('%I.%I', schemaname, tablename) as table from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') and tablename <> 'schema_migrations'`,
    )
  ).rows.map(({ table }) => table);

const seedRows = async (pool: pg.Pool): Promise<readonly Seed[]> => {
  const seeds: Seed[] = [];
  for (const table of await tablesOf(pool)) {
    const { rows } = await pool.query<{ rows: string | null }>(`select json_agg(t)::text as rows from ${table} t`);
    const found = rows[0]?.rows;
    if (found) seeds.push({ table, rows: found });
  }
  return seeds;
};

const reset = async (pool: pg.Pool, seeds: readonly Seed[]): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const tables = await tablesOf(pool);
    if (tables.length > 0) await client.query(`truncate ${tables.join(', ')} restart identity cascade`);
    for (const { table, rows } of seeds) {
      await client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`, [
        rows,
      ]);
    }
    await client.query('commit');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
};
