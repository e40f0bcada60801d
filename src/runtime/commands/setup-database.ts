import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { readDatabaseUrl } from '../../adapters/sql/address.js';
import { atAddress } from '../../adapters/sql/errors.js';
import { assignOwners, type Login, prepareRoles } from '../../adapters/sql/roles.js';
import { badUsage, done, type Outcome, refused } from '../../cli/command.js';
import { counted } from '../../lib/counted.js';
import { plaintextProblems } from '../config/checks.js';
import type { Config } from '../config/config.js';
import { openPatientPool, prepareDatabase } from '../engines/database.js';

/**
 * Makes the steps of the schema. Given a file with an administrator's address, first creates the database and the roles of DATABASE_URL and
 * DATABASE_OWNER_URL, and hands over tables that one role owned until now.
 */
export const setupDatabase = async (config: Config, file: string | undefined): Promise<Outcome> => {
  const { databaseUrl: service, databaseOwnerUrl: owner, database, allowsPlaintext } = config;
  if (service === undefined) return badUsage('DATABASE_URL is not set: the embedded database needs no setup');
  if (file !== undefined) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return badUsage(`${file} cannot be read`);
    if (owner === undefined)
      return badUsage('DATABASE_OWNER_URL is not set: it names the role that is to own the tables');
    const admin = addressIn(text);
    if (admin === undefined) return badUsage(`${file} holds no postgres:// address`);
    if (!allowsPlaintext && plaintextProblems({ ...nowhere, databaseUrl: admin }).length > 0)
      return refused('the administrator is reached without TLS: use sslmode=verify-full, or ALLOW_PLAINTEXT_ENGINES=1');
    const fault = await atAddress(file, prepareServer(admin, loginOf(owner), loginOf(service)));
    if (fault !== undefined) return refused(fault);
  }
  const steps = await prepareDatabase({ service, owner }, database.limits);
  return done(`the database is ready: ${counted(steps.length, 'step')} of its schema made`, { steps });
};

const addressIn = (text: string): string | undefined => {
  try {
    return readDatabaseUrl(text.trim());
  } catch {
    return undefined;
  }
};

const nowhere = { databaseOwnerUrl: undefined, eventStoreUrl: undefined, natsUrl: undefined };

type Target = Login & { database: string };

/** As the driver reads the address, including its environment variables. */
const loginOf = (address: string): Target => {
  const { user = '', password, database = '' } = new pg.Client({ connectionString: address });
  return { name: user, password: typeof password === 'string' ? password : '', database };
};

/** Returns undefined when done, otherwise why nothing was begun. */
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
  await over(url.href, (pool) => assignOwners(pool, owner.name, service.name));
  return undefined;
};

const over = async (connectionString: string, work: (pool: pg.Pool) => Promise<void>): Promise<void> => {
  const pool = openPatientPool({ connectionString, applicationName: 'nfse-setup' });
  await work(pool).finally(() => pool.end());
};
