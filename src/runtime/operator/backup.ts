import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type BackupManifest,
  BackupRefused,
  checkFiles,
  loadBackup,
  MASTER_KEY_COPY,
  readManifest,
  writeBackup,
} from '../../adapters/embedded-postgres/backup.js';
import { startEmbeddedPostgres } from '../../adapters/embedded-postgres/start.js';
import { pauseIssuing } from '../../adapters/guards-postgres/incomplete-log.js';
import { migrations } from '../../adapters/sql/migrations/index.js';
import type { Restore } from '../../cli/commands/backup.js';
import type { BackupOutcome, BackupRequest } from '../../cli/session.js';
import type { Clock } from '../../ports/clock.js';
import type { LogPosition } from '../../ports/event-log.js';
import type { Config } from '../config/config.js';
import { systemClock } from '../engines/clock.js';
import { openPatientPool } from '../engines/database.js';
import type { Engines } from '../engines/engines.js';

/** Statements of a backup or a restore may run long, so these connections have no limits. */
const openLongPool = (connectionString: string) =>
  openPatientPool({ connectionString, max: 2, applicationName: 'nfse-backup' });

/** Writes a backup of the embedded database. Refused for a configured server, whose own tools do this better. */
export const backUp = async (
  { engines, config, clock }: { engines: Engines; config: Config; clock: Clock },
  { folder, withMasterKey, onProgress }: BackupRequest,
): Promise<BackupOutcome> => {
  if (config.databaseUrl !== undefined)
    return {
      refused: 'DATABASE_URL names your own server: use pg_dump or pg_basebackup (docs/operations/backup.md)',
    };
  const db = openLongPool(engines.pool.options.connectionString ?? '');
  try {
    const manifest = await writeBackup({
      folder,
      db,
      onProgress,
      madeAt: clock.now(),
      logIsHere: config.eventStoreUrl === undefined,
      ...(withMasterKey ? { masterKeyFile: config.masterKeyFile } : {}),
    });
    return { done: { folder, ...summaryOf(manifest) } };
  } catch (error) {
    if (error instanceof BackupRefused) return { refused: error.message };
    throw error;
  } finally {
    await db.end();
  }
};

const summaryOf = ({ tables, log, masterKey }: BackupManifest) => {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const events = log.kind === 'database' ? tables.find(({ name }) => name === 'event_log')?.rows : undefined;
  return { tables: tables.length, rows, masterKey, ...(events === undefined ? {} : { events }) };
};

/** Entries that the folder may hold before a restore, because a backup of the database does not contain them. */
const MAY_BE_THERE = [MASTER_KEY_COPY, 'simulator'];

type Restored = ReturnType<typeof summaryOf> & { paused: boolean; masterKeyThere: boolean; madeAt: string };

/**
 * Restores a backup into an empty data folder on which nothing runs. Issuing is paused until `doctor --reconcile`, because the restored log may lack
 * events. Throws `BackupRefused` and leaves the folder as it was.
 */
const restoreInto = async (
  config: Config,
  from: string,
  clock: Clock,
  onProgress: (table: string, rows: number) => void,
): Promise<Restored> => {
  const { dataDir, masterKeyFile } = config;
  if (config.databaseUrl !== undefined)
    throw new BackupRefused('DATABASE_URL is set: this puts back the embedded database, in DATA_DIR, only');
  const before = await readdir(dataDir).catch((): string[] => []);
  const other = before.filter((name) => !MAY_BE_THERE.includes(name));
  if (other.length > 0) throw new BackupRefused(`DATA_DIR ${dataDir} is not empty: it holds ${other.join(', ')}`);
  const manifest = await readManifest(from);
  await checkFiles(from, manifest);
  try {
    await loadInto(dataDir, from, manifest, clock, onProgress);
    if (manifest.masterKey === 'included' && !existsSync(masterKeyFile)) {
      await mkdir(dirname(masterKeyFile), { recursive: true });
      await copyFile(join(from, MASTER_KEY_COPY), masterKeyFile);
      await chmod(masterKeyFile, 0o600);
    }
  } catch (error) {
    for (const name of await readdir(dataDir).catch((): string[] => []))
      if (!before.includes(name)) await rm(join(dataDir, name), { recursive: true, force: true });
    throw error;
  }
  const isHere = manifest.log.kind === 'database';
  return { ...summaryOf(manifest), paused: isHere, masterKeyThere: existsSync(masterKeyFile), madeAt: manifest.madeAt };
};

const loadInto = async (
  dataDir: string,
  from: string,
  manifest: BackupManifest,
  clock: Clock,
  onProgress: (table: string, rows: number) => void,
): Promise<void> => {
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  try {
    // The owner loads rows into tables that the service may not write to. The next start grants the service its rights.
    const db = openLongPool(server.ownerConnectionString);
    try {
      await loadBackup(from, manifest, { db, migrations }, onProgress);
      const { log } = manifest;
      if (log.kind === 'database') await pauseIssuing(db, log.identity, BigInt(log.head) as LogPosition, clock.now());
    } finally {
      await db.end();
    }
  } finally {
    await server.stop();
  }
};

/** Restores into the DATA_DIR of the environment; no process may run on it. */
export const restoreOf =
  (config: () => Config): Restore =>
  async (from, onProgress) => {
    const { dataDir, masterKeyFile } = config();
    try {
      return { done: await restoreInto(config(), from, systemClock, onProgress), dataDir, masterKeyFile };
    } catch (error) {
      if (error instanceof BackupRefused) return { refused: error.message };
      throw error;
    }
  };
