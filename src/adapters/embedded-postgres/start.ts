import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { pause } from '../../lib/pause.js';
import { findBinaries } from './binaries.js';
import { prepareCluster, prepareDatabase } from './cluster.js';
import { addressesOf, forgetPort, superuserAddress, writeConnection } from './connection-file.js';
import { clusterFolder } from './data-dir.js';
import { EmbeddedPostgresError } from './error.js';
import { refuseHalfRestored } from './half-restored.js';
import { endRest, openServerSocket, stopOrphan } from './orphan.js';
import { chooseOsUser } from './os-user.js';
import type { OwnerSocket } from './owner-socket.js';
import { launchServer, type ServerProcess, supervise } from './server-process.js';

type EmbeddedPostgresOptions = {
  dataDir: string;
  /** Lines of the server's log; no statements, no values. */
  log: (line: string) => void;
  /**
   * Called once, to use a wait: for the files of a new cluster, otherwise for the server that is being launched. The server is connected to only after
   * the promise has resolved, because an event loop that is blocked takes an answer for late. The promise never rejects.
   */
  whileStarting?: ((isNew: boolean) => Promise<void>) | undefined;
  /** Server settings that override the defaults. */
  settings?: Readonly<Record<string, string>>;
  /** Set by the restore alone; all others refuse a folder whose restore has not ended. */
  isRestore?: true;
};

/** Starts the PostgreSQL of a data folder, which the caller has prepared and locked. The first start creates the cluster. Throws `EmbeddedPostgresError`. */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions) => {
  const dataDir = resolve(options.dataDir);
  if (options.isRestore !== true) refuseHalfRestored(dataDir);
  await forgetPort(dataDir);
  await stopOrphan(dataDir, options.log);
  const socket = await openServerSocket(dataDir);
  try {
    return await startWith(socket, dataDir, options);
  } catch (error) {
    await socket?.end();
    throw error;
  }
};

const startWith = async (
  socket: OwnerSocket | undefined,
  dataDir: string,
  { log, settings = {}, whileStarting }: EmbeddedPostgresOptions,
) => {
  const user = chooseOsUser();
  const binaries = await findBinaries(user);
  const cluster = clusterFolder(dataDir);
  const isNew = !existsSync(cluster);
  let work = isNew ? whileStarting?.(isNew) : undefined;
  const passwords = await prepareCluster(dataDir, binaries, user);
  const { postgres } = binaries;
  const launchOn = (port: number) => launchServer({ postgres, cluster, port, user, socket, settings, log });
  const launching = launchOnFreePort(launchOn);
  work ??= whileStarting?.(isNew);
  const { server, port } = await launching;
  const relaunch = async (): Promise<ServerProcess> => {
    await endRest(dataDir, log);
    return await launchOn(port);
  };
  const supervisor = supervise(server, relaunch, log);
  const connection = { port, ...passwords };
  try {
    await writeConnection(dataDir, connection);
    await work;
    await prepareDatabase(connection);
  } catch (error) {
    await supervisor.stop();
    throw new EmbeddedPostgresError(`PostgreSQL started but could not be set up: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const { service, owner } = addressesOf(connection);
  return {
    /** For the service's role, which cannot change a row of the log. The addresses stay the same when the server restarts. */
    connectionString: service,
    /** For the role that owns the schema: migrations and restores. */
    ownerConnectionString: owner,
    /** For the superuser: maintenance of the server, never the service itself. */
    superuserConnectionString: superuserAddress(connection),
    onExit: supervisor.onExit,
    onFailedStart: supervisor.onFailedStart,
    /** Id of the server's current main process. */
    pid: supervisor.pid,
    /** Clean shutdown. */
    stop: async (): Promise<void> => {
      await supervisor.stop();
      await socket?.end();
    },
  };
};

const LAUNCHES = 5;

/** Another program may take the port between the choice and the start, and processes of a killed server may still run. */
const launchOnFreePort = async (
  launchOn: (port: number) => Promise<ServerProcess>,
): Promise<{ server: ServerProcess; port: number }> => {
  for (let launch = 1; ; launch += 1) {
    const port = await freePort();
    try {
      return { server: await launchOn(port), port };
    } catch (error) {
      if (launch === LAUNCHES || !/TCP\/IP sockets|shared memory block|lock file/.test(messageOf(error))) throw error;
      await pause(launch * 100);
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
