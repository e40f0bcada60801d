import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { describe, expect, inject, vi } from 'vitest';
import { openPool } from '../../src/adapters/sql/pool.js';
import type { PostgresOfRun } from './global-setup.js';
import { PATIENT } from './patient.js';
import { as, ensureRoles, OWNER, SERVICE } from './roles.js';

const server: PostgresOfRun = inject('postgres');

/** A suite that needs PostgreSQL; skipped by name when the run has none (global setup fails it under REQUIRE_ENGINES). */
export const describeWithPostgres = (name: string, suite: () => void): void => {
  if (server.kind === 'running') describe(name, suite);
  else describe.skip(`${name} [no postgres: ${server.reason}]`, suite);
};

export type FreshDatabase = {
  /** As the service's role, with the rights of production: what the product does with it, it may do there. */
  connectionString: string;
  pool: pg.Pool;
  /** As the role that owns the tables and makes the schema's steps. */
  ownerConnectionString: string;
  /** As the superuser: for what a test does to the database behind the product's back. */
  admin: pg.Pool;
  /** Empties every table and puts the rows back that the migrations had made. */
  reset(): Promise<void>;
  /** Ends every other connection to this database, as a restart of the server would. */
  breakConnections(): Promise<void>;
  close(): Promise<void>;
};

/** A migrated database of this caller alone, copied from the run's template. Never dropped: the server goes as a whole. */
export const freshDatabase = (): Promise<FreshDatabase> => createDatabase(runningServer().template);

/** One without any table, on the run's server or another, whose `pool` and address are the owner's: for tests of the migrations. */
export const emptyDatabase = (serverUrl?: string): Promise<FreshDatabase> =>
  createDatabase('template0', serverUrl, OWNER);

/** A copy of the database in its present state, like a backup; connections to the original are ended. */
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

const createDatabase = async (
  template: string,
  serverUrl = runningServer().url,
  login = SERVICE,
): Promise<FreshDatabase> => {
  const name = `nfse_test_${randomUUID().replaceAll('-', '')}`;
  if (server.kind === 'absent' || serverUrl !== server.url) await ensureRoles(serverUrl);
  const maker = openPool({ connectionString: serverUrl, max: 1, applicationName: 'test-admin', ...PATIENT });
  await maker.query(`create database ${name} owner ${OWNER.name} template ${template}`);
  // As `setup database` does when it hands the tables to the owner.
  await maker.query(`revoke temporary on database ${name} from public`).finally(() => maker.end());
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const { connectTimeoutMs } = PATIENT;
  const connectionString = as(login, url.href);
  const pool = openPool({ connectionString, max: 4, applicationName: 'test', connectTimeoutMs });
  const admin = openPool({ connectionString: url.href, max: 2, applicationName: 'test-admin', ...PATIENT });
  const seeds = await seedRows(admin);
  return {
    connectionString,
    pool,
    admin,
    ownerConnectionString: as(OWNER, url.href),
    reset: () => reset(admin, seeds),
    breakConnections: async () => {
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
    },
    close: async () => {
      await Promise.all([pool.end(), admin.end()]);
    },
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

/** Waits until so many connections of the database wait for a lock. */
export const lockWaits = ({ admin }: FreshDatabase, count: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const { rows } = await admin.query<{ waits: number }>(
        `select count(*)::int as waits from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database()`,
      );
      expect(rows[0]?.waits).toBe(count);
    },
    { timeout: 60_000, interval: 20 },
  );
