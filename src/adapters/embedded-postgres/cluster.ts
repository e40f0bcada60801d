import { existsSync } from 'node:fs';
import { lchown, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { errorCode } from '../../lib/error-code.js';
import { writeNew } from '../../lib/files.js';
import { overPool } from '../sql/pool.js';
import { assignOwners, prepareRoles } from '../sql/roles.js';
import { type PostgresBinaries, refuseMisreadPath } from './binaries.js';
import {
  CONNECTION_FILE,
  type CompleteConnection,
  DATABASE,
  type EmbeddedConnection,
  newPassword,
  OWNER,
  readConnection,
  SERVICE,
  SUPERUSER,
  superuserAddress,
  writeConnection,
} from './connection-file.js';
import { CLUSTER_NAMES, clusterFolder } from './data-dir.js';
import { EmbeddedPostgresError } from './error.js';
import type { OsUser } from './os-user.js';
import { runToEnd } from './server-process.js';

const MAJOR = '18';

/** Whether a data folder holds a cluster; no server is started for that. */
export const holdsCluster = (dataDir: string): boolean => existsSync(clusterFolder(dataDir));

/** Creates the cluster at the first start, later checks its version. Returns the passwords, with new ones for roles that have none. */
export const prepareCluster = async (
  dataDir: string,
  { initdb }: PostgresBinaries,
  user: OsUser | undefined,
): Promise<Omit<CompleteConnection, 'port'>> => {
  const cluster = clusterFolder(dataDir);
  if (existsSync(cluster)) {
    await checkVersion(cluster);
    const stored = await readConnection(dataDir);
    if (stored !== undefined) return passwordsOf(stored);
    throw new EmbeddedPostgresError(
      `DATA_DIR ${dataDir} lacks ${CONNECTION_FILE}: restore it from a backup of the folder`,
    );
  }
  refuseMisreadPath(initdb);
  const password = newPassword();
  const draft = join(dataDir, CLUSTER_NAMES.draft);
  const passwordFile = join(dataDir, CLUSTER_NAMES.password);
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    await rm(passwordFile, { force: true });
    if (user !== undefined) await lchown(draft, user.uid, user.gid);
    await writeNew(passwordFile, password, 0o600, async (handle) => {
      if (user !== undefined) await handle.chown(user.uid, user.gid);
    });
    await runToEnd(initdb, [...INITDB, `--pgdata=${draft}`, `--pwfile=${passwordFile}`], user);
    // The password is stored first and the cluster renamed last, so that a cluster under its final name is complete.
    await writeConnection(dataDir, { port: 0, password });
    await rename(draft, cluster);
    return passwordsOf({ password });
  } finally {
    await rm(passwordFile, { force: true });
  }
};

const passwordsOf = ({ password, ownerPassword, servicePassword }: Omit<EmbeddedConnection, 'port'>) => ({
  password,
  ownerPassword: ownerPassword ?? newPassword(),
  servicePassword: servicePassword ?? newPassword(),
});

/**
 * Creates the service's database and roles where they are missing, and hands over what a version with one user has made. The passwords are in the
 * folder before a role gets them, so that the next start completes an interrupted one.
 */
export const prepareDatabase = async (connection: CompleteConnection): Promise<void> => {
  try {
    await prepareExisting(connection);
  } catch (error) {
    if (errorCode(error) !== NO_SUCH_DATABASE) throw error;
    await asSuperuser(connection, 'postgres', (admin) => admin.query(`create database ${DATABASE}`));
    await prepareExisting(connection);
  }
};

const NO_SUCH_DATABASE = '3D000';

/** Over one connection, because each takes a part of a start. */
const prepareExisting = (connection: CompleteConnection): Promise<void> =>
  asSuperuser(connection, DATABASE, async (admin) => {
    const { ownerPassword, servicePassword } = connection;
    await prepareRoles(admin, {
      owner: { name: OWNER, password: ownerPassword },
      service: { name: SERVICE, password: servicePassword },
    });
    await assignOwners(admin, OWNER, SERVICE);
  });

const asSuperuser = <T>(
  connection: EmbeddedConnection,
  database: string,
  work: (admin: pg.Pool) => Promise<T>,
): Promise<T> =>
  overPool({ connectionString: superuserAddress(connection, database), applicationName: 'nfse-supervisor' }, work);

const INITDB = [
  `--username=${SUPERUSER}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--data-checksums',
  '--no-instructions',
];

const checkVersion = async (cluster: string): Promise<void> => {
  const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => 'unknown')).trim();
  if (version === MAJOR) return;
  throw new EmbeddedPostgresError(
    `${cluster} is of PostgreSQL ${version}, this service brings ${MAJOR}: restore a backup into an empty DATA_DIR or set DATABASE_URL`,
  );
};
