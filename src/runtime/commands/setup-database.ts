import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { readDatabaseUrl } from '../../adapters/sql/address.js';
import { openPool } from '../../adapters/sql/pool.js';
import { handOver, type Login, prepareRoles } from '../../adapters/sql/roles.js';
import { badUsage, type Command, done, refused, textFlag } from '../../cli/command.js';
import { counted } from '../../cli/text.js';
import type { Config } from '../config.js';
import { plaintextProblems } from '../engine-transport.js';
import { prepareDatabase } from '../prepare-database.js';

/**
 * Makes the schema's steps, and before that, given an administrator's address, the roles of DATABASE_URL and DATABASE_OWNER_URL, the
 * database, and what of it one role owned until now.
 */
export const setupDatabase = (config: () => Config): Command => ({
  name: 'setup database',
  positionals: [],
  summary: 'make the steps of the schema; with an administrator also the roles, the database and their rights',
  options: {
    'admin-url-file': { type: 'string', help: 'a file that holds the address of an administrator of the server' },
  },
  changes: false,
  run: async ({ flags }) => {
    const { databaseUrl: service, databaseOwnerUrl: owner, database, allowsPlaintext } = config();
    if (service === undefined) return badUsage('DATABASE_URL is not set: the embedded database needs no setup');
    const file = textFlag(flags, 'admin-url-file');
    if (file !== undefined) {
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text === undefined) return badUsage(`${file} cannot be read`);
      if (owner === undefined)
        return badUsage('DATABASE_OWNER_URL is not set: it names the role that is to own the tables');
      const admin = addressIn(text);
      if (admin === undefined) return badUsage(`${file} holds no postgres:// address`);
      if (!allowsPlaintext && plaintextProblems({ ...nowhere, databaseUrl: admin }).length > 0)
        return refused(
          'the administrator is reached without TLS: use sslmode=verify-full, or ALLOW_PLAINTEXT_ENGINES=1',
        );
      const fault = await prepareServer(admin, loginOf(owner), loginOf(service));
      if (fault !== undefined) return refused(fault);
    }
    const steps = await prepareDatabase({ service, owner }, database.limits);
    return done(`the database is ready: ${counted(steps.length, 'step')} of its schema made`, { steps });
  },
});

const addressIn = (text: string): string | undefined => {
  try {
    return readDatabaseUrl(text.trim());
  } catch {
    return undefined;
  }
};

const nowhere = { databaseOwnerUrl: undefined, eventStoreUrl: undefined, natsUrl: undefined };

type Target = Login & { database: string };

/** As the driver reads the address, its variables included. */
const loginOf = (address: string): Target => {
  const { user = '', password, database = '' } = new pg.Client({ connectionString: address });
  return { name: user, password: typeof password === 'string' ? password : '', database };
};

/** Undefined when it is done; else why it was not begun. */
const prepareServer = async (admin: string, owner: Target, service: Target): Promise<string | undefined> => {
  const names = [loginOf(admin).name, owner.name, service.name];
  if (new Set(names).size < names.length)
    return 'DATABASE_URL, DATABASE_OWNER_URL and the administrator must name three different users';
  if (owner.database !== service.database) return 'DATABASE_URL and DATABASE_OWNER_URL must name one database';
  if (owner.password === '' || service.password === '')
    return 'both addresses must hold the password that their role gets';
  await over(admin, async (pool) => {
    await prepareRoles(pool, { owner, service });
    const { rowCount } = await pool.query('select from pg_database where datname = $1', [owner.database]);
    const name = pg.escapeIdentifier(owner.database);
    if (rowCount === 0) await pool.query(`create database ${name} encoding 'UTF8' template template0`);
  });
  const url = new URL(admin);
  url.pathname = `/${encodeURIComponent(owner.database)}`;
  await over(url.href, (pool) => handOver(pool, owner.name, service.name));
  return undefined;
};

const over = async (connectionString: string, work: (pool: pg.Pool) => Promise<void>): Promise<void> => {
  const pool = openPool({
    connectionString,
    max: 1,
    applicationName: 'nfse-setup',
    statementTimeoutMs: 0,
    lockTimeoutMs: 0,
  });
  await work(pool).finally(() => pool.end());
};
