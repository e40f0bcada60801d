import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { PostgresBinaries } from './binaries.js';
import {
  connectionString,
  DATABASE,
  type EmbeddedConnection,
  newPassword,
  readConnection,
  SUPERUSER,
  writeConnection,
} from './connection-file.js';
import { EmbeddedPostgresError } from './error.js';
import type { OsUser } from './os-user.js';
import { runToEnd } from './server-process.js';

const MAJOR = '18';

export const clusterFolder = (dataDir: string): string => join(dataDir, 'postgres');

/** Creates the cluster at the first start; later checks that this version can run it. Returns its password. */
export const prepareCluster = async (
  dataDir: string,
  { initdb }: PostgresBinaries,
  user: OsUser | undefined,
): Promise<string> => {
  const cluster = clusterFolder(dataDir);
  if (existsSync(cluster)) {
    await checkVersion(cluster);
    const stored = await readConnection(dataDir);
    if (stored !== undefined) return stored.password;
    throw new EmbeddedPostgresError(
      `DATA_DIR ${dataDir} lacks postgres-connection.json: restore it from a backup of the folder`,
    );
  }
  const password = newPassword();
  const draft = `${cluster}.new`;
  const passwordFile = `${cluster}.password`;
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    await rm(passwordFile, { force: true });
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (user !== undefined) for (const path of [draft, passwordFile]) await chown(path, user.uid, user.gid);
    await runToEnd(initdb, [...INITDB, `--pgdata=${draft}`, `--pwfile=${passwordFile}`], user);
    // Password first, cluster last: what has the final name is complete.
    await writeConnection(dataDir, { port: 0, password });
    await rename(draft, cluster);
    return password;
  } finally {
    await rm(passwordFile, { force: true });
  }
};

/** Creates the service's database when it is missing. */
export const prepareDatabase = async (connection: EmbeddedConnection): Promise<void> => {
  const client = new pg.Client({ connectionString: connectionString(connection, 'postgres') });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
};

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
