import type pg from 'pg';
import { holdsCluster } from '../../adapters/embedded-postgres/cluster.js';
import { readEmbeddedAddresses } from '../../adapters/embedded-postgres/connection-file.js';
import {
  clusterFolder,
  isCopyInUse,
  isOwnerSeen,
  lockDataDir,
  prepareDataDir,
  refusalOfOtherUser,
  refuseFileAsDataDir,
  wasLocked,
} from '../../adapters/embedded-postgres/data-dir.js';
import { EmbeddedPostgresError, EmbeddedPostgresSilent } from '../../adapters/embedded-postgres/error.js';
import { refuseHalfRestored } from '../../adapters/embedded-postgres/half-restored.js';
import { chooseOsUser } from '../../adapters/embedded-postgres/os-user.js';
import { LONGEST_RESTART_MS } from '../../adapters/embedded-postgres/server-process.js';
import { startEmbeddedPostgres } from '../../adapters/embedded-postgres/start.js';
import { checkSameSchema, checkSearchPath } from '../../adapters/sql/belonging.js';
import {
  checkSameDatabase,
  checkSchema,
  checkServer,
  refuseSharedSessions,
} from '../../adapters/sql/database-checks.js';
import { atAddress, isFull } from '../../adapters/sql/errors.js';
import { findHistory, MigrationError, migrate, pendingMigrations } from '../../adapters/sql/migrate.js';
import { migrations } from '../../adapters/sql/migrations/index.js';
import { overPool, PATIENT, type SessionLimits } from '../../adapters/sql/pool.js';
import { clientClassFor } from '../../adapters/sql/proven-client.js';
import { grantService } from '../../adapters/sql/roles.js';
import { counted } from '../../lib/counted.js';
import { pause } from '../../lib/pause.js';
import { type Config, type Role, roles } from '../config/config.js';
import { createFaultLines } from '../config/fault-lines.js';
import type { Logger } from '../config/logger.js';
import type { Runner } from './runner.js';

/** Milliseconds that `serve` waits for the lock of the folder, and a command for the database of the process that holds it. */
const LOCK_WAIT_MS = 10_000;

/** For an embedded database beside DATABASE_URL: a client that repeats one of its invoices would get a second note. Undefined without one. */
export const unusedDatabase = ({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): { detail: string; cure: string } | undefined =>
  databaseUrl === undefined || !holdsCluster(dataDir)
    ? undefined
    : {
        detail: `DATA_DIR holds an embedded database that is not used: ${clusterFolder(dataDir)}`,
        cure: 'move its invoices to the database of DATABASE_URL, or take the folder away (docs/operations/start.md#from-the-embedded-database-to-your-own)',
      };

/** Addresses of one database. Without an `owner` the user of `service` makes the schema's steps, if it may. */
type DatabaseAddresses = { service: string; owner: string | undefined };

export type DatabaseServerOptions = {
  config: Config;
  logger: Logger;
  runner: Runner;
  /** A command stops the database that it started only when no other process uses it any more. */
  startedFor: 'serve' | 'command';
  /** Set for what has nothing to do in an empty database: an embedded one that is not there is refused and not made. */
  onlyExisting?: true;
  /** Called once, while a server of this folder starts and before it is connected to. `isNew`: the folder had none. The promise never rejects. */
  whileOpening?: (isNew: boolean) => Promise<void>;
};

/** Returns the configured database, otherwise the embedded server of the data folder, which is started if none runs. */
export const openDatabaseServer = async (options: DatabaseServerOptions): Promise<DatabaseAddresses> => {
  const { config, startedFor } = options;
  if (config.databaseUrl !== undefined) return { service: config.databaseUrl, owner: config.databaseOwnerUrl };
  refuseFileAsDataDir(config.dataDir);
  // Refuses the folder of another OS user before anything else speaks of the folder.
  await readEmbeddedAddresses(config.dataDir);
  if (startedFor === 'command') {
    const refusal = await refusalOfOtherUser(config.dataDir);
    if (refusal !== undefined) return await openRunning(config.dataDir, refusal);
  }
  const refuseEmpty = (): void => {
    if (options.onlyExisting === true && !holdsCluster(config.dataDir)) throw noDatabase(config.dataDir);
  };
  // A service that is at its first start has taken the lock.
  if (!wasLocked(config.dataDir)) refuseEmpty();
  // Checked before locking, because the lock would leave a folder behind that cannot be used.
  await prepareDataDir(config.dataDir, chooseOsUser());
  if (startedFor === 'serve') {
    const lock = await lockDataDir(config.dataDir, { waitMs: LOCK_WAIT_MS });
    options.runner.onStop('data folder lock', () => lock.release());
    return await startOwn(options);
  }
  const deadline = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    const lock = await lockDataDir(config.dataDir, { waitMs: 0 }).catch((error: unknown) => {
      if (error instanceof EmbeddedPostgresError) return error;
      throw error;
    });
    if (!(lock instanceof Error)) {
      options.runner.onStop('data folder lock', () => lock.release());
      refuseEmpty();
      return await startOwn(options);
    }
    const running = await findRunning(config.dataDir);
    if (running instanceof Error) {
      if (performance.now() > deadline) throw running;
    } else if (typeof running === 'object') return running;
    else if (performance.now() > deadline) throw refusalBeside(running, config.dataDir) ?? lock;
    await pause(100);
  }
};

const noDatabase = (dataDir: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} holds no database, and this command makes none: set DATA_DIR or DATABASE_URL as the service has it`,
  );

/** Why a command cannot use the database of the process that holds the folder, if another reason than the lock says more. */
const refusalBeside = (running: Found, dataDir: string): Error | undefined => {
  if (running === 'one_user') return new EmbeddedPostgresError(OLDER);
  if (running !== 'silent') return undefined;
  // The service starts its database again and again, as on a full disk. To stop that process or to choose another folder would not help.
  return new EmbeddedPostgresSilent(
    `the database of the service that runs on DATA_DIR ${dataDir} does not answer, and the service starts the database again by itself: see the log of the service for why it does not start, cure that (for instance free space on a full disk), and try again`,
  );
};

/**
 * What is in the folder instead of addresses: `copy` for the addresses of another folder's service, `silent` for a database that does not answer, or
 * the refusal of a database whose connections are all held.
 */
type Found = DatabaseAddresses | 'no_server' | 'one_user' | 'copy' | 'silent' | Error | undefined;

const findRunning = async (dataDir: string): Promise<Found> => {
  // The database that runs may be that of a restore, whose rows are not complete.
  refuseHalfRestored(dataDir);
  // The copied address leads to the database of the original.
  if (await isCopyInUse(dataDir)) return 'copy';
  const found = await readEmbeddedAddresses(dataDir);
  const running = typeof found === 'object' ? await connectable(found) : found;
  // A database of another container may answer there and not here.
  return running === 'silent' && !(await isOwnerSeen(dataDir)) ? undefined : running;
};

/** Root may use the database of another user's service while the service runs. Nothing is written into the folder, the lock neither. */
const openRunning = async (dataDir: string, refusal: EmbeddedPostgresError): Promise<DatabaseAddresses> => {
  const deadline = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    const running = await findRunning(dataDir);
    if (running instanceof Error) {
      if (performance.now() > deadline) throw running;
    } else if (typeof running === 'object') return running;
    else if (running !== 'no_server' || performance.now() > deadline) throw refusal;
    await pause(100);
  }
};

const OLDER = 'the service that runs on DATA_DIR is of an older version: restart it with this version';

/** The caller holds the lock of the folder. */
const startOwn = async ({
  config,
  logger,
  runner,
  startedFor,
  whileOpening,
}: DatabaseServerOptions): Promise<DatabaseAddresses> => {
  const msg = 'the embedded database failed and is started again';
  const faults = createFaultLines({ logger, msg, everyMs: LONGEST_RESTART_MS });
  // The reason is a line of PostgreSQL about its files, as a start of the service shows it. The line holds no value of a statement.
  const tell = (reason: string): void => faults.tell(new EmbeddedPostgresError(reason), {}, { reason });
  let isStarted = false;
  const server = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    whileStarting: whileOpening,
    log: (line) => {
      logger.debug({ msg: 'postgres', line });
      // On a full disk the main process stays, and all others end and start again and again.
      if (isStarted && line.startsWith('PANIC:')) tell(line);
    },
  });
  isStarted = true;
  server.onExit(() => logger.error({ msg: 'the embedded database ended and is being restarted' }));
  server.onFailedStart((error) => error instanceof EmbeddedPostgresError && tell(error.message));
  runner.onStop('embedded database', async () => {
    if (startedFor === 'command') await waitUntilUnused(server.superuserConnectionString);
    await server.stop();
  });
  return { service: server.connectionString, owner: server.ownerConnectionString };
};

const connectable = (found: DatabaseAddresses): Promise<DatabaseAddresses | Error | 'silent'> => {
  const config = { connectionString: found.service, connectionTimeoutMillis: 2_000 };
  return withClient(config, (client) => client.query('select 1')).then(
    () => found,
    (error: unknown) => (error instanceof Error && isFull(error) ? error : 'silent'),
  );
};

const withClient = async <T>(
  config: pg.ClientConfig & { connectionString: string },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new (clientClassFor(config.connectionString))(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
};

/** Another command may still use this database and gets a moment to finish. Only a superuser sees the sessions of all users. */
const waitUntilUnused = (connectionString: string): Promise<void> =>
  withClient({ connectionString }, async (client) => {
    const deadline = performance.now() + LOCK_WAIT_MS;
    while (performance.now() < deadline) {
      const { rows } = await client.query<{ others: number }>(
        `select count(*)::int as others from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      if ((rows[0]?.others ?? 0) === 0) return;
      await pause(100);
    }
  });

/** Name of the database sessions of every process of an older version that has the engines open, whatever its roles. */
export const OLDER_SESSION = 'nfse';

/** Name of the database sessions of a command that has the engines open. One is always open, because each process with engines watches its keys. */
export const COMMAND_SESSION = 'nfse-command';

/** The same of a process of the service, with its roles, so that a command sees which roles run. */
export const sessionOfRoles = (held: readonly Role[]): string => `nfse ${held.join(',')}`;

/** `roles`: those that processes hold. `older`: a process of an older version runs too, which may hold any role. */
export type RolesHeld = { roles: ReadonlySet<Role>; older: boolean };

/** What processes hold that use this database, on any machine and as any user of the database. */
export const rolesHeld = async (db: pg.Pool): Promise<RolesHeld> => {
  const { rows } = await db.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and (application_name = $1 or starts_with(application_name, $2))`,
    [OLDER_SESSION, sessionOfRoles([])],
  );
  const names = new Set(rows.flatMap(({ name }) => name.slice(sessionOfRoles([]).length).split(',')));
  return {
    roles: new Set(roles.filter((role) => names.has(role))),
    older: rows.some(({ name }) => name === OLDER_SESSION),
  };
};

/** Counts sessions of processes that have the engines open, on any machine. */
export const serviceSessions = async (db: pg.Pool): Promise<number> => {
  const { rows } = await db.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
     where datname = current_database() and (application_name = any($1) or starts_with(application_name, $2))`,
    [[OLDER_SESSION, COMMAND_SESSION], sessionOfRoles([])],
  );
  return rows[0]?.others ?? 0;
};

/**
 * Checks that the database can be used and brings its schema up to this program's, as the owner where there is one. A command makes no step while a
 * process of the service is connected. Returns the steps made; throws `MigrationError` when they may not be made.
 */
export const prepareDatabase = async (
  { service, owner }: DatabaseAddresses,
  limits: SessionLimits,
  startedFor: Making['startedFor'],
): Promise<readonly number[]> => {
  if (owner === undefined) return await prepareAlone({ address: service, limits, startedFor });
  const asOwner = async (pool: pg.Pool, serving: pg.Pool): Promise<readonly number[]> => {
    await checkServer(pool);
    await refuseSharedSessions(pool);
    await atAddress('DATABASE_URL', refuseSharedSessions(serving));
    const serviceUser = await atAddress('DATABASE_URL', userOf(serving));
    if (serviceUser === (await userOf(pool))) throw new MigrationError(ONE_USER);
    await checkSameDatabase(pool, serving);
    await checkSearchPath(pool);
    await checkOwner(pool);
    const missing = await pendingMigrations(pool, migrations);
    const made = missing.length === 0 ? [] : await makeSteps(pool, { address: owner, limits, startedFor });
    await grantService(pool, serviceUser);
    await checkSchema(pool);
    // Without the rights that were granted just now the service finds no table.
    await atAddress('DATABASE_URL', checkSameSchema(serving, pool));
    return made;
  };
  const prepared = withPool(owner, limits, (pool) => withPool(service, limits, (serving) => asOwner(pool, serving)));
  return await atAddress('DATABASE_OWNER_URL', prepared);
};

const ONE_USER = 'DATABASE_URL and DATABASE_OWNER_URL name one user: the service must not be the owner of its tables';

/** The older program could not start again on the newer schema, nor restore a backup of it. */
const IN_USE =
  'an older version of the service uses this database, and this program would change its schema: run the program of that version, or start this version of the service first';

/** Who makes steps of the schema: the address of a role that may, and what for. */
type Making = { address: string; limits: SessionLimits; startedFor: DatabaseServerOptions['startedFor'] | 'setup' };

const prepareAlone = (making: Making): Promise<readonly number[]> =>
  withPool(making.address, making.limits, async (pool) => {
    await checkServer(pool);
    await refuseSharedSessions(pool);
    await checkSearchPath(pool);
    const missing = await pendingMigrations(pool, migrations);
    if (missing.length > 0 && !(await mayCreate(pool)))
      throw new MigrationError(
        `the database lacks ${counted(missing.length, 'step')} of its schema, which the user of DATABASE_URL may not make: run nfse setup database, or set DATABASE_OWNER_URL`,
      );
    const made = missing.length === 0 ? [] : await makeSteps(pool, making);
    await checkSchema(pool);
    return made;
  });

/** Makes the missing steps on a separate connection without time limits: a step may take long, and a second process waits for it. */
const makeSteps = async (pool: pg.Pool, { address, limits, startedFor }: Making): Promise<readonly number[]> => {
  if (startedFor === 'command' && (await serviceSessions(pool)) > 0) throw new MigrationError(IN_USE);
  const patient = { ...limits, ...PATIENT, connectionString: address, applicationName: APPLICATION };
  return await overPool(patient, (owning) => migrate(owning, migrations));
};

const APPLICATION = 'nfse-migrations';

/** Runs work on a separate connection with the usual time limits, so that a silent line ends a start instead of holding it up. */
const withPool = <T>(
  connectionString: string,
  limits: SessionLimits,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> => overPool({ ...limits, connectionString, applicationName: APPLICATION }, work);

const mayCreate = async (pool: pg.Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ may: boolean }>(`select has_schema_privilege(current_schema(), 'create') as may`);
  return rows[0]?.may === true;
};

const checkOwner = async (pool: pg.Pool): Promise<void> => {
  if ((await findHistory(pool))?.isOwn === false)
    throw new MigrationError('the user of DATABASE_OWNER_URL does not own the tables: run nfse setup database');
};

const userOf = async (pool: pg.Pool): Promise<string> =>
  (await pool.query<{ name: string }>('select current_user as name')).rows[0]?.name ?? '';
