import pg from 'pg';
import { readDatabaseUrl } from '../../adapters/sql/address.js';
import { checkBelongs, otherDatabaseOf } from '../../adapters/sql/belonging.js';
import { DatabaseUnsuitable } from '../../adapters/sql/database-checks.js';
import { atAddress } from '../../adapters/sql/errors.js';
import { overPool, PATIENT } from '../../adapters/sql/pool.js';
import { assignOwners, hasExcess, type Login, prepareRoles } from '../../adapters/sql/roles.js';
import { badUsage, done, type Outcome, refused } from '../../cli/command.js';
import { readOperatorText } from '../../cli/flags.js';
import { counted } from '../../lib/counted.js';
import { errorCode } from '../../lib/error-code.js';
import { plaintextProblems } from '../config/checks.js';
import { type Config, ignoredParametersLine } from '../config/config.js';
import { prepareDatabase } from '../engines/database.js';

/**
 * Makes the steps of the schema. With an administrator's address in `file` it first makes the database and the roles, and hands over tables that one
 * role owned. Throws `DatabaseUnsuitable`, and nothing is changed, when another program uses the database or a role.
 */
export const setupDatabase = async (
  config: Config,
  file: string | undefined,
  warn: (line: string) => void,
): Promise<Outcome> => {
  const { databaseUrl: service, databaseOwnerUrl: owner, database, allowsPlaintext } = config;
  if (service === undefined) return badUsage('DATABASE_URL is not set: the embedded database needs no setup');
  if (file !== undefined) {
    const read = await readOperatorText(file);
    if ('problem' in read) return badUsage(read.problem);
    const { text } = read;
    if (owner === undefined)
      return badUsage('DATABASE_OWNER_URL is not set: it names the role that is to own the tables');
    const admin = addressIn(text);
    if (admin === undefined) return badUsage(`${file} holds no postgres:// address`);
    for (const line of ignoredParametersLine(file, text)) warn(line);
    if (!allowsPlaintext && plaintextProblems({ ...nowhere, databaseUrl: admin }).length > 0)
      return refused('the administrator is reached without TLS: use sslmode=verify-full, or ALLOW_PLAINTEXT_ENGINES=1');
    const fault = await atAddress(file, prepareServer(admin, loginOf(owner), loginOf(service)));
    if (fault !== undefined) return refused(fault);
  }
  const steps = await prepareDatabase({ service, owner }, database.limits, 'setup');
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

type Target = Login & { database: string; address: string };

/** As the driver reads the address, including its environment variables. */
const loginOf = (address: string): Target => {
  const { user = '', password, database = '' } = new pg.Client({ connectionString: address });
  return { name: user, password: typeof password === 'string' ? password : '', database, address };
};

/** Returns undefined when done, otherwise why nothing was begun. */
const prepareServer = async (admin: string, owner: Target, service: Target): Promise<string | undefined> => {
  const names = [loginOf(admin).name, owner.name, service.name];
  if (new Set(names).size < names.length)
    return 'DATABASE_URL, DATABASE_OWNER_URL and the administrator must name three different users';
  if (owner.database !== service.database) return 'DATABASE_URL and DATABASE_OWNER_URL must name one database';
  if (owner.password === '' || service.password === '')
    return 'both addresses must hold the password that their role gets';
  const inside = new URL(admin);
  inside.pathname = `/${encodeURIComponent(owner.database)}`;
  await over(admin, async (pool) => {
    const { rowCount } = await pool.query('select from pg_database where datname = $1', [owner.database]);
    const isThere = rowCount !== 0;
    if (isThere) await over(inside.href, checkBelongs);
    await checkRole(pool, owner, 'DATABASE_OWNER_URL');
    await checkRole(pool, service, 'DATABASE_URL');
    await prepareRoles(pool, { owner, service });
    const name = pg.escapeIdentifier(owner.database);
    if (!isThere) await pool.query(`create database ${name} encoding 'UTF8' template template0`);
  });
  await over(inside.href, (pool) => assignOwners(pool, owner.name, service.name));
  return undefined;
};

/** Throws `DatabaseUnsuitable` for a role that is in use in another database too and that this setup would change. */
const checkRole = async (admin: pg.Pool, role: Target, variable: string): Promise<void> => {
  const other = await otherDatabaseOf(admin, role.name, role.database);
  if (other === undefined || (!(await hasExcess(admin, role.name)) && (await passwordHolds(role, variable)))) return;
  throw new DatabaseUnsuitable(
    `the role of ${variable} is in use in the database ${other} too, and its password or attributes would change: name a role of the service's own, or make the role as the address has it; nothing was changed`,
  );
};

/** The server checks the password before it looks for the database and for the right to connect to it. Throws `FaultAtAddress`. */
const passwordHolds = async ({ address }: Target, variable: string): Promise<boolean> => {
  const holds = over(address, (pool) =>
    pool.query('select').then(
      () => true,
      (error: unknown) => {
        const code = errorCode(error) ?? '';
        if (['3D000', '42501'].includes(code)) return true;
        if (['28P01', '28000'].includes(code)) return false;
        throw error;
      },
    ),
  );
  return await atAddress(variable, holds);
};

const over = <T>(connectionString: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> =>
  overPool({ connectionString, applicationName: 'nfse-setup', ...PATIENT }, work);
