import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { describe, inject } from 'vitest';
import { openPool } from '../../src/adapters/sql/pool.js';
import type { PostgresOfRun } from './global-setup.js';
import { PATIENT } from './patient.js';

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
export const freshDatabase = (): Promise<FreshDatabase> => createDatabase(runningServer().template);

/** One without any table, on the run's server or another: for tests of the migrations. */
export const emptyDatabase = (serverUrl?: string): Promise<FreshDatabase> => createDatabase('template0', serverUrl);

/** As it stands now, like a backup of this moment; whoever is connected to the other one is cut off. */
export const copyOfDatabase = async ({ connectionString }: FreshDatabase): Promise<FreshDatabase> => {
  const name = new URL(connectionString).pathname.slice(1);
  const admin = openPool({ connectionString: runningServer().url, max: 1, applicationName: 'test-admin', ...PATIENT });
  await admin
    .query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
    .finally(() => admin.end());
  return await createDatabase(name);
};

const runningServer = () => {
  if (server.kind === 'absent') throw new Error(`no postgres: ${server.reason}`);
  return server;
};

const createDatabase = async (template: string, serverUrl = runningServer().url): Promise<FreshDatabase> => {
  const name = `nfse_test_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool({ connectionString: serverUrl, max: 1, applicationName: 'test-admin', ...PATIENT });
  await admin.query(`create database ${name} template ${template}`).finally(() => admin.end());
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const { connectTimeoutMs } = PATIENT;
  const pool = openPool({ connectionString: url.href, max: 4, applicationName: 'test', connectTimeoutMs });
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
