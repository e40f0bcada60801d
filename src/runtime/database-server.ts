import pg from 'pg';
import { readEmbeddedAddresses } from '../adapters/embedded-postgres/connection-file.js';
import { prepareDataDir } from '../adapters/embedded-postgres/data-dir.js';
import { type DataDirLock, lockDataDir } from '../adapters/embedded-postgres/data-dir-lock.js';
import { EmbeddedPostgresError } from '../adapters/embedded-postgres/error.js';
import { chooseOsUser } from '../adapters/embedded-postgres/os-user.js';
import { startEmbeddedPostgres } from '../adapters/embedded-postgres/start.js';
import { pause } from '../waiting/pause.js';
import type { EngineOptions } from './engines.js';

/** How long `serve` waits for the folder's lock, and a command for the database of the service that holds it. */
const LOCK_WAIT_MS = 10_000;

/** Of one database. Without an `owner` the user of `service` makes the schema's steps, if it may. */
export type DatabaseAddresses = { service: string; owner: string | undefined };

/** The configured database, else the embedded server of the data folder, started if nobody runs it. */
export const openDatabaseServer = async (options: EngineOptions): Promise<DatabaseAddresses> => {
  const { config, patience } = options;
  if (config.databaseUrl !== undefined) return { service: config.databaseUrl, owner: config.databaseOwnerUrl };
  // Before the lock, which would leave a folder behind that cannot be used.
  await prepareDataDir(config.dataDir, chooseOsUser());
  if (patience === 'serve') return await startOwn(options, await lockDataDir(config.dataDir, { waitMs: LOCK_WAIT_MS }));
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    const lock = await lockDataDir(config.dataDir, { waitMs: 0 }).catch((error: unknown) => {
      if (error instanceof EmbeddedPostgresError) return error;
      throw error;
    });
    if (!(lock instanceof Error)) return await startOwn(options, lock);
    const running = await readEmbeddedAddresses(config.dataDir);
    if (running !== 'older' && running !== undefined && (await answers(running.service))) return running;
    if (Date.now() > deadline) throw running === 'older' ? new EmbeddedPostgresError(OLDER) : lock;
    await pause(100);
  }
};

const OLDER = 'the service that runs on DATA_DIR is of an older version: start it anew with this one';

const startOwn = async (
  { config, logger, runner, patience }: EngineOptions,
  lock: DataDirLock,
): Promise<DatabaseAddresses> => {
  runner.onStop('data folder lock', () => lock.release());
  const server = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    lock,
    log: (line) => logger.debug({ msg: 'postgres', line }),
  });
  server.onExit(() => logger.error({ msg: 'the embedded database ended and is being restarted' }));
  runner.onStop('embedded database', async () => {
    if (patience === 'command') await othersGone(server.superuserConnectionString);
    await server.stop();
  });
  return { service: server.connectionString, owner: server.ownerConnectionString };
};

const answers = async (connectionString: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
};

/** Another command may have borrowed this database; it is given a moment to finish. Only a superuser sees the sessions of every user. */
const othersGone = async (connectionString: string): Promise<void> => {
  const deadline = Date.now() + LOCK_WAIT_MS;
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    while (Date.now() < deadline) {
      const { rows } = await client.query<{ others: number }>(
        `select count(*)::int as others from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      if ((rows[0]?.others ?? 0) === 0) return;
      await pause(100);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
};
