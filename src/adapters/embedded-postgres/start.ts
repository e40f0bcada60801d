import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { findBinaries } from './binaries.js';
import { clusterFolder, prepareCluster, prepareDatabase } from './cluster.js';
import { addressesOf, superuserAddress, writeConnection } from './connection-file.js';
import { prepareDataDir } from './data-dir.js';
import { type DataDirLock, lockDataDir } from './data-dir-lock.js';
import { EmbeddedPostgresError } from './error.js';
import { stopOrphan } from './orphan.js';
import { chooseOsUser, type OsUser } from './os-user.js';
import { launchServer, type PostgresExit, type ServerProcess } from './server-process.js';
import { supervise } from './supervisor.js';

export type EmbeddedPostgresOptions = {
  dataDir: string;
  /** Lines of the server's log; no statements, no values. */
  log: (line: string) => void;
  /** As root only; default `postgres`, else a system user `nfse-postgres`. */
  runAsUser?: string;
  /** The folder's lock when the caller holds it already; otherwise it is taken for as long as the server runs. */
  lock?: DataDirLock;
  /** How long to wait for the lock; default not at all. */
  lockWaitMs?: number;
  /** Server settings on top of the defaults. */
  settings?: Readonly<Record<string, string>>;
};

export type EmbeddedPostgres = {
  /** Of the service's role, which changes no row of the log. The addresses stay the same through restarts of the server. */
  connectionString: string;
  /** Of the role that owns the schema: for its steps, and for putting back a backup. */
  ownerConnectionString: string;
  /** Of the superuser: to look after the server, never to serve. */
  superuserConnectionString: string;
  /** Clean shutdown; also gives the lock back, if it was taken here. */
  stop(): Promise<void>;
  /** The server ended unasked; it is already being restarted. */
  onExit(callback: (exit: PostgresExit) => void): void;
  /** Of the server's main process, as it is now. */
  pid(): number;
};

/** Starts the PostgreSQL of a data folder, creating it first if need be. Throws `EmbeddedPostgresError`. */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const dataDir = resolve(options.dataDir);
  const user = chooseOsUser(options.runAsUser);
  await prepareDataDir(dataDir, user);
  const ownLock =
    options.lock === undefined ? await lockDataDir(dataDir, { waitMs: options.lockWaitMs ?? 0 }) : undefined;
  try {
    return await startLocked(dataDir, user, options, async () => ownLock?.release());
  } catch (error) {
    await ownLock?.release();
    throw error;
  }
};

const startLocked = async (
  dataDir: string,
  user: OsUser | undefined,
  { log, settings = {} }: EmbeddedPostgresOptions,
  unlock: () => Promise<void>,
): Promise<EmbeddedPostgres> => {
  const binaries = await findBinaries(user);
  const cluster = clusterFolder(dataDir);
  await stopOrphan(cluster, log);
  const passwords = await prepareCluster(dataDir, binaries, user);
  const launchOn = (port: number) => launchServer({ postgres: binaries.postgres, cluster, port, user, settings, log });
  const { server, port } = await launchOnFreePort(launchOn);
  const supervisor = supervise(server, () => launchOn(port), log);
  try {
    await writeConnection(dataDir, { port, ...passwords });
    await prepareDatabase({ port, ...passwords });
  } catch (error) {
    await supervisor.stop();
    throw new EmbeddedPostgresError(`PostgreSQL started but could not be set up: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const { service, owner } = addressesOf({ port, ...passwords });
  return {
    connectionString: service,
    ownerConnectionString: owner,
    superuserConnectionString: superuserAddress({ port, ...passwords }),
    onExit: supervisor.onExit,
    pid: supervisor.pid,
    stop: async () => {
      await supervisor.stop();
      await unlock();
    },
  };
};

const LAUNCHES = 5;

/** Somebody may take the port between the choice and the start, and processes of a killed server may linger. */
const launchOnFreePort = async (
  launchOn: (port: number) => Promise<ServerProcess>,
): Promise<{ server: ServerProcess; port: number }> => {
  for (let launch = 1; ; launch += 1) {
    const port = await freePort();
    try {
      return { server: await launchOn(port), port };
    } catch (error) {
      if (launch === LAUNCHES || !/TCP\/IP sockets|shared memory block|lock file/.test(messageOf(error))) throw error;
      await new Promise((done) => setTimeout(done, launch * 100));
    }
  }
};

const freePort = (): Promise<number> =>
  new Promise((found, failed) => {
    const probe = createServer();
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address !== null ? found(address.port) : failed(new Error('no port')),
      );
    });
  });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
