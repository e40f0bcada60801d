import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadBackup } from '../adapters/embedded-postgres/backup-load.js';
import {
  type BackupManifest,
  BackupRefused,
  checkFiles,
  MASTER_KEY_COPY,
  readManifest,
} from '../adapters/embedded-postgres/backup-manifest.js';
import { writeBackup } from '../adapters/embedded-postgres/backup-write.js';
import { startEmbeddedPostgres } from '../adapters/embedded-postgres/start.js';
import { notePause } from '../adapters/guards-postgres/set-back.js';
import { migrations } from '../adapters/sql/migrations/index.js';
import { openPool } from '../adapters/sql/pool.js';
import type { BackupOutcome, BackupRequest } from '../cli/session.js';
import type { Clock } from '../ports/clock.js';
import type { LogPosition } from '../ports/event-log.js';
import type { Config } from './config.js';
import type { Engines } from './engines.js';

/** A long statement of a backup or a restore is no fault. */
const openLongPool = (connectionString: string) =>
  openPool({
    ...{ connectionString, max: 2, applicationName: 'nfse-backup' },
    ...{ statementTimeoutMs: 0, lockTimeoutMs: 0 },
  });

/** Of the embedded database; one's own server has programs that do it better. */
export const backUp = async (
  { engines, config, clock }: { engines: Engines; config: Config; clock: Clock },
  { folder, withMasterKey, onProgress }: BackupRequest,
): Promise<BackupOutcome> => {
  if (config.databaseUrl !== undefined)
    return {
      refused: 'DATABASE_URL names a server of your own: use pg_dump or pg_basebackup (docs/operations/backup.md)',
    };
  const db = openLongPool(engines.pool.options.connectionString ?? '');
  try {
    const manifest = await writeBackup({
      ...{ folder, db, onProgress, madeAt: clock.now(), logIsHere: config.eventStoreUrl === undefined },
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

/** What may stand in the folder before: what a backup of the database does not hold. */
const MAY_BE_THERE = [MASTER_KEY_COPY, 'simulator'];

export type Restored = ReturnType<typeof summaryOf> & { paused: boolean; masterKeyThere: boolean; madeAt: string };

/**
 * Puts a backup back into an empty data folder, with nothing running on it. The restored log is older than the truth, so issuing
 * is paused until `doctor --reconcile`. Throws `BackupRefused`; the folder is then as it was.
 */
export const restoreInto = async (
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
    // The owner loads rows into tables that the service may not write to; the next start grants the service its rights.
    const db = openLongPool(server.ownerConnectionString);
    try {
      await loadBackup(from, manifest, { db, migrations }, onProgress);
      const { log } = manifest;
      if (log.kind === 'database') await notePause(db, log.identity, BigInt(log.head) as LogPosition, clock.now());
    } finally {
      await db.end();
    }
  } finally {
    await server.stop();
  }
};
