import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { readDatabaseUrl } from '../../adapters/sql/address.js';
import { assignOwners, type Login, prepareRoles } from '../../adapters/sql/roles.js';
import { badUsage, type Command, done, refused, textFlag } from '../../cli/command.js';
import { counted } from '../../lib/counted.js';
import { AddressInvalid } from '../../ports/engine-address.js';
import { plaintextProblems } from '../config/checks.js';
import type { Config } from '../config/config.js';
import { systemClock } from '../engines/clock.js';
import { openPatientPool, prepareDatabase } from '../engines/database.js';
import { makeEngineSecrets, SecretsIncomplete } from './engine-secrets.js';

const secrets: Command = {
  name: 'setup secrets',
  positionals: ['FOLDER'],
  summary: 'make the secrets of compose.yaml that are missing; none is shown or changed',
  options: { simulator: { type: 'string', help: "the simulator's folder, whose authority the service is to trust" } },
  changes: false,
  run: async ({ positionals: [folder = ''], flags }) => {
    try {
      const made = await makeEngineSecrets(folder, textFlag(flags, 'simulator'), systemClock);
      return done(made.length === 0 ? 'every secret is there' : `made: ${made.join(', ')}`, { made });
    } catch (error) {
      if (error instanceof SecretsIncomplete) return refused(error.message);
      throw error;
    }
  },
};

const eventStore = (config: () => Config): Command => ({
  name: 'setup eventstore',
  summary: 'make the user of EVENTSTORE_URL, or renew its password, and let it read the whole log',
  options: { 'admin-password-file': { type: 'string', help: 'a file that holds the password of admin; required' } },
  changes: false,
  run: async ({ flags }) => {
    const url = config().eventStoreUrl;
    if (url === undefined) return badUsage('EVENTSTORE_URL is not set');
    const file = textFlag(flags, 'admin-password-file');
    if (file === undefined) return badUsage('--admin-password-file is required');
    const password = await readFile(file, 'utf8').catch(() => undefined);
    if (password === undefined) return badUsage(`${file} cannot be read`);
    const { AccountNotPrepared, prepareAccount } = await import('../../adapters/eventlog-eventstoredb/account.js');
    try {
      const outcome = await prepareAccount(url, password.trim());
      return done(`the user of EVENTSTORE_URL is ${outcome} and may read the whole log`, { user: outcome });
    } catch (error) {
      if (error instanceof AddressInvalid) return badUsage(`EVENTSTORE_URL: ${error.message}`);
      if (error instanceof AccountNotPrepared) return { exit: 3, text: error.message, json: { error: error.message } };
      throw error;
    }
  },
});

/** The commands that the one-shot services of compose.yaml run. */
export const setupCommands = (config: () => Config): readonly Command[] => [
  secrets,
  eventStore(config),
  setupDatabase(config),
];

/**
 * Makes the steps of the schema. Given an administrator's address, it first creates the database and the roles of DATABASE_URL and
 * DATABASE_OWNER_URL, and hands over tables that one role owned until now.
 */
export const setupDatabase = (config: () => Config): Command => ({
  name: 'setup database',
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
