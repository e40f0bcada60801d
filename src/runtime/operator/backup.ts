import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type pg from 'pg';
import {
  type BackupManifest,
  BackupRefused,
  checkFiles,
  loadBackup,
  logInRows,
  MASTER_KEY_COPY,
  readManifest,
  writeBackup,
} from '../../adapters/embedded-postgres/backup.js';
import { lockDataDir, prepareDataDir } from '../../adapters/embedded-postgres/data-dir.js';
import {
  beginRestore,
  discardRestored,
  endRestore,
  isHalfRestored,
  isKeyOfBackup,
  MADE_BY_RESTORE,
  noteKeyOfBackup,
  RESTORING,
} from '../../adapters/embedded-postgres/half-restored.js';
import { loadIntoPrepared } from '../../adapters/embedded-postgres/load-prepared.js';
import { chooseOsUser } from '../../adapters/embedded-postgres/os-user.js';
import { startEmbeddedPostgres } from '../../adapters/embedded-postgres/start.js';
import { knowsPauses, pauseIssuing } from '../../adapters/guards-postgres/incomplete-log.js';
import { databasePlace } from '../../adapters/sql/address.js';
import { atAddress } from '../../adapters/sql/errors.js';
import { migrations } from '../../adapters/sql/migrations/index.js';
import { openPool, PATIENT } from '../../adapters/sql/pool.js';
import { isKeyDraft, lockFolderOf, MasterKeyUnusable, parseKeys, removeDrafts } from '../../adapters/vault/key-file.js';
import { isNotedOfBackup, originFileOf } from '../../adapters/vault/key-origin.js';
import { listGenerations } from '../../adapters/vault/key-registry.js';
import { keyFaults } from '../../adapters/vault/keyring.js';
import type { MasterKeys } from '../../adapters/vault/master-key.js';
import type { Authenticity, Restore, Restored } from '../../cli/commands/backup.js';
import type { BackupOutcome, BackupRequest } from '../../cli/session.js';
import { present } from '../../domain/common/present.js';
import { errorCode } from '../../lib/error-code.js';
import { draftOf } from '../../lib/files.js';
import { isDenied, otherOwner } from '../../lib/other-owner.js';
import type { Clock } from '../../ports/clock.js';
import type { LogPosition } from '../../ports/event-log.js';
import type { Config } from '../config/config.js';
import { systemClock } from '../engines/clock.js';
import type { Engines } from '../engines/engines.js';
import { copyToPut, keysAtHand, loadOnly, putMasterKey, refuseUnwritable } from './key-of-backup.js';
import { checkMac, withMac } from './manifest-mac.js';

/** Statements of a backup or a restore may run long, so these connections have no limits. */
const openLongPool = (connectionString: string) =>
  openPool({ connectionString, max: 2, applicationName: 'nfse-backup', ...PATIENT });

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
      withMac: (manifest) => withMac(manifest, engines.keyring.sealing()),
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

const summaryOf = ({ tables, log, masterKey }: BackupManifest, holdsLog = log.kind === 'database') => {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const events = holdsLog ? tables.find(({ name }) => name === 'event_log')?.rows : undefined;
  return { tables: tables.length, rows, masterKey, ...(events === undefined ? {} : { events }) };
};

const rowsOf = ({ tables }: BackupManifest, table: string): number =>
  tables.find(({ name }) => name === table)?.rows ?? 0;

/** Entries that the folder may hold before a restore: no backup of the database contains them, and none of them holds rows. */
const MAY_BE_THERE = [
  MASTER_KEY_COPY,
  lockFolderOf(MASTER_KEY_COPY),
  originFileOf(MASTER_KEY_COPY),
  draftOf(originFileOf(MASTER_KEY_COPY)),
  'simulator',
  'lock',
  draftOf(RESTORING),
];

/**
 * Checks the MAC under the key file as it is before the restore: a person who can change the backup can change its copy of the key too. So a key that
 * an earlier restore took from a backup proves nothing. Throws `BackupRefused` for a changed manifest.
 */
const authenticityOf = async (
  from: string,
  manifest: BackupManifest,
  { dataDir, masterKeyFile }: Config,
): Promise<Authenticity> => {
  const keys = await keysAtHand(masterKeyFile);
  const checked = checkMac(manifest, keys);
  if (checked === 'wrong')
    throw new BackupRefused(
      `the backup in ${from} was changed after it was made: its MAC does not hold under master key ${manifest.mac?.generation}. Use another backup`,
    );
  const key = keys.find(({ generation }) => generation === manifest.mac?.generation);
  if (checked !== 'confirmed' || key === undefined) return checked;
  // A restore of an earlier version that was interrupted has left the mark of the folder alone.
  const isOfBackup = (await isNotedOfBackup(masterKeyFile, key)) || (await isKeyOfBackup(dataDir, masterKeyFile));
  return isOfBackup ? 'unproven' : 'confirmed';
};

type OnProgress = (table: string, rows: number) => void;

/** Issuing over a log elsewhere stays paused if it was when the backup was made. Without EVENTSTORE_URL the log is what the rows hold. */
const restoredOf = (
  manifest: BackupManifest,
  authenticity: Authenticity,
  { eventStoreUrl, masterKeyFile }: Config,
): Restored => {
  const holdsLog =
    manifest.log.kind === 'database' || (eventStoreUrl === undefined && rowsOf(manifest, 'event_log') > 0);
  return {
    ...summaryOf(manifest, holdsLog),
    authenticity,
    paused: holdsLog || rowsOf(manifest, 'log_set_back') > 0,
    masterKeyThere: existsSync(masterKeyFile),
    madeAt: manifest.madeAt,
  };
};

/**
 * Restores into an empty data folder, or into one whose restore was interrupted. Issuing is then paused until `doctor --reconcile`, because the
 * restored log may lack events. Throws `BackupRefused`, and leaves no row in the folder then.
 */
const restoreInto = async (config: Config, from: string, clock: Clock, onProgress: OnProgress): Promise<Restored> => {
  const { dataDir } = config;
  await refuseOtherData(dataDir);
  const manifest = await readManifest(from);
  const authenticity = await authenticityOf(from, manifest, config);
  await checkFiles(from, manifest);
  await prepareDataDir(dataDir, chooseOsUser());
  const lock = await lockDataDir(dataDir, { waitMs: 0 });
  let masterKeyFault: string | undefined;
  try {
    // Another process may have used the folder since the first look.
    await refuseOtherData(dataDir);
    masterKeyFault = await restoreUnderLock(config, { from, manifest, clock, onProgress });
  } finally {
    await lock.release();
  }
  return present({ ...restoredOf(manifest, authenticity, config), masterKeyFault });
};

/** Ignores what a killed restore has made, because the next one begins from nothing. */
const refuseOtherData = async (dataDir: string): Promise<void> => {
  const there = await readdir(dataDir).catch(async (error: unknown): Promise<string[]> => {
    const advice = isDenied(error) ? await otherOwner(dataDir, { name: `DATA_DIR ${dataDir}` }) : undefined;
    if (advice !== undefined) throw new BackupRefused(advice);
    return [];
  });
  const mayBeThere = isHalfRestored(dataDir) ? [...MAY_BE_THERE, ...MADE_BY_RESTORE, RESTORING] : MAY_BE_THERE;
  const other = there.filter((name) => !mayBeThere.includes(name) && !isKeyDraft(name, MASTER_KEY_COPY));
  if (other.length > 0) throw new BackupRefused(`DATA_DIR ${dataDir} is not empty: it holds ${other.join(', ')}`);
};

type Loading = {
  from: string;
  manifest: BackupManifest;
  clock: Clock;
  onProgress: OnProgress;
};

/** The folder is marked until it is whole, so that no process issues over what a kill leaves. Returns the fault of a key file that does not fit. */
const restoreUnderLock = async ({ dataDir, masterKeyFile }: Config, loading: Loading): Promise<string | undefined> => {
  const { from, manifest } = loading;
  await beginRestore(dataDir);
  await discardRestored(dataDir);
  let masterKeyFault: string | undefined;
  try {
    await refuseUnwritable(manifest, masterKeyFile);
    masterKeyFault = await loadInto(dataDir, masterKeyFile, loading);
    const copy = await copyToPut(from, manifest, masterKeyFile);
    if (copy !== undefined) {
      await noteKeyOfBackup(dataDir, copy);
      await putMasterKey(masterKeyFile, copy);
    }
  } catch (error) {
    await discardRestored(dataDir);
    // The mark alone tells the next restore that a key file is no copy of the operator.
    if (!(await isKeyOfBackup(dataDir, masterKeyFile))) await endRestore(dataDir);
    throw error;
  }
  // A killed restore may have left a draft with keys in clear.
  if (existsSync(masterKeyFile)) await removeDrafts(masterKeyFile);
  await endRestore(dataDir);
  return masterKeyFault;
};

/**
 * Pauses issuing over the log that the rows hold, also where the manifest says that the log is elsewhere: a service without EVENTSTORE_URL issues over
 * these rows. Throws `BackupRefused` where the manifest names another log than the rows hold: a pause over that log would stop nothing.
 */
const pauseOver =
  (manifest: BackupManifest, clock: Clock) =>
  async (db: Pick<pg.Pool | pg.PoolClient, 'query'>): Promise<void> => {
    const { log } = manifest;
    if (log.kind === 'elsewhere' && rowsOf(manifest, 'event_log') === 0) return;
    const restored = await logInRows(db);
    const isNamed = log.kind === 'elsewhere' || (restored?.identity === log.identity && restored.head === log.head);
    if (restored === undefined || !isNamed)
      throw new BackupRefused('the manifest names another log, or another end of it, than the rows of the backup hold');
    await pauseIssuing(db, restored.identity, BigInt(restored.head) as LogPosition, clock.now());
  };

const loadInto = async (
  dataDir: string,
  masterKeyFile: string,
  { from, manifest, clock, onProgress }: Loading,
): Promise<string | undefined> => {
  const pauseOverLog = pauseOver(manifest, clock);
  const server = await startEmbeddedPostgres({ dataDir, isRestore: true, log: () => undefined });
  try {
    // The owner loads rows into tables that the service may not write to. The next start grants the service its rights.
    const db = openLongPool(server.ownerConnectionString);
    try {
      const withRows = async (client: pg.PoolClient): Promise<void> => {
        if (await knowsPauses(client)) await pauseOverLog(client);
      };
      await loadBackup(from, manifest, { db, migrations, withRows }, onProgress);
      // Again for a backup that is older than the table of pauses.
      await pauseOverLog(db);
      return existsSync(masterKeyFile) ? await keyFileFault(db, masterKeyFile, loadOnly(masterKeyFile)) : undefined;
    } finally {
      await db.end();
    }
  } finally {
    await server.stop();
  }
};

/** What a start would say of the key file with these keys. Undefined for one that opens the database. */
const keyFileFault = async (
  db: Parameters<typeof listGenerations>[0],
  file: string,
  load: () => Promise<MasterKeys>,
): Promise<string | undefined> => {
  const registered = await listGenerations(db);
  // A database that knows no key yet takes those of the file.
  if (registered.length === 0) return undefined;
  try {
    const faults = keyFaults(await load(), registered, file);
    return faults.length > 0 ? faults.join('; ') : undefined;
  } catch (error) {
    if (error instanceof MasterKeyUnusable) return error.message;
    throw error;
  }
};

/** Restores into an empty database of the operator, all or nothing. Throws `BackupRefused`, `FaultAtAddress`, and what `loadIntoPrepared` throws. */
const restoreElsewhere = async (
  config: Config,
  service: string,
  { from, clock, onProgress }: Pick<Loading, 'from' | 'clock' | 'onProgress'>,
): Promise<Restored> => {
  const { databaseOwnerUrl, eventStoreUrl, masterKeyFile } = config;
  const manifest = await readManifest(from);
  if ((manifest.log.kind === 'elsewhere') !== (eventStoreUrl !== undefined))
    throw new BackupRefused(
      eventStoreUrl === undefined
        ? 'the backup does not hold the event log: set EVENTSTORE_URL as it was when the backup was made'
        : 'the backup holds the event log, and EVENTSTORE_URL names another one: unset it',
    );
  const authenticity = await authenticityOf(from, manifest, config);
  await checkFiles(from, manifest);
  const copy = await copyToPut(from, manifest, masterKeyFile);
  const withRows = async (client: pg.PoolClient): Promise<void> => {
    await pauseOver(manifest, clock)(client);
    await refuseOtherKey(client, masterKeyFile, copy);
  };
  const ofService = openLongPool(service);
  const ofOwner = databaseOwnerUrl === undefined ? undefined : openLongPool(databaseOwnerUrl);
  const target = { db: ofOwner ?? ofService, service: ofOwner && ofService, migrations, withRows };
  try {
    const loading = loadIntoPrepared(from, manifest, target, onProgress);
    await atAddress(ofOwner === undefined ? 'DATABASE_URL' : 'DATABASE_OWNER_URL', loading);
  } finally {
    await ofService.end();
    await ofOwner?.end();
  }
  // Only now: no mark would tell a restore after a rollback that the key file is the backup's copy. The rows are there, and a file that cannot be
  // written is missing, which the outcome says.
  if (copy !== undefined)
    await putMasterKey(masterKeyFile, copy).catch((error: unknown) => {
      if (errorCode(error) === undefined) throw error;
    });
  return restoredOf(manifest, authenticity, config);
};

/** `copy` is what will be the key file. Who sets up a database often makes a new key for it, which opens nothing of the backup. */
const refuseOtherKey = async (
  client: pg.PoolClient,
  masterKeyFile: string,
  copy: string | undefined,
): Promise<void> => {
  if (copy === undefined && !existsSync(masterKeyFile)) return;
  const load = copy === undefined ? loadOnly(masterKeyFile) : async () => parseKeys(masterKeyFile, copy);
  const fault = await keyFileFault(client, masterKeyFile, load);
  if (fault !== undefined) throw new BackupRefused(`the backup does not go with MASTER_KEY_FILE: ${fault}`);
};

/** Restores into the database of DATABASE_URL if it is set, otherwise into DATA_DIR; no process may run on them. */
export const restoreOf =
  (config: () => Config): Restore =>
  async (from, onProgress) => {
    const { dataDir, databaseUrl, masterKeyFile } = config();
    try {
      if (databaseUrl === undefined) {
        const done = await restoreInto(config(), from, systemClock, onProgress);
        return { done, masterKeyFile, into: { data_dir: dataDir } };
      }
      const done = await restoreElsewhere(config(), databaseUrl, { from, clock: systemClock, onProgress });
      return { done, masterKeyFile, into: { database: databasePlace(databaseUrl) } };
    } catch (error) {
      if (error instanceof BackupRefused) return { refused: error.message };
      throw error;
    }
  };
