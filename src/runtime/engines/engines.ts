import { access } from 'node:fs/promises';
import type pg from 'pg';
import { allProjections } from '../../../projections/registry.js';
import type { EventStoreEventLog } from '../../adapters/eventlog-eventstoredb/event-log.js';
import { postgresEventLog } from '../../adapters/eventlog-postgres/event-log.js';
import { createPostgresGuards, type PostgresGuards } from '../../adapters/guards-postgres/guards.js';
import { createReadModel } from '../../adapters/read-model-postgres/read-model.js';
import { FaultAtAddress } from '../../adapters/sql/errors.js';
import { CONNECT_MS, openPool, type PoolOptions, type SessionLimits } from '../../adapters/sql/pool.js';
import { createCertificateVault } from '../../adapters/vault/certificate-vault.js';
import { loadMasterKeys, MasterKeyUnusable } from '../../adapters/vault/key-file.js';
import { listGenerations } from '../../adapters/vault/key-registry.js';
import { type Keyring, openKeyring } from '../../adapters/vault/keyring.js';
import { adviceWithoutFile } from '../../adapters/vault/master-key.js';
import { createSealingKeys, type VaultSealingKeys } from '../../adapters/vault/sealing-keys.js';
import { createEventStore, type EventStore } from '../../app/event-store/event-store.js';
import { errorCode } from '../../lib/error-code.js';
import { pause } from '../../lib/pause.js';
import type { CertificateVault } from '../../ports/certificate-vault.js';
import type { Clock } from '../../ports/clock.js';
import { AddressInvalid } from '../../ports/engine-address.js';
import type { EventLog } from '../../ports/event-log.js';
import type { ReadModel } from '../../ports/read-model.js';
import { checkProjectedLog, prepareProjections } from '../../projector/projector.js';
import type { Config, Role } from '../config/config.js';
import type { Logger } from '../config/logger.js';
import {
  COMMAND_SESSION,
  type DatabaseServerOptions,
  openDatabaseServer,
  prepareDatabase,
  sessionOfRoles,
} from './database.js';
import type { Runner } from './runner.js';

/** How long a repeated request waits for a process that died. Both append to the stream of one invoice id, so a short lease risks no second note. */
const IDEMPOTENCY_LEASE_SECONDS = 5;

/** Each connection is held for one short statement. */
const GUARD_CONNECTIONS = 8;

/**
 * Milliseconds after which a look whether the log lost its end drops its connection. Another process issues again 5 s after the database is back
 * (`database-presence.ts`), which has to be enough for a look that hangs, the next look over a fresh connection, and the record of a pause.
 */
const LOOK_MS = 3_000;

/** The engines that every role and every operator command use. */
export type Engines = {
  pool: pg.Pool;
  /** For the looks whether a log in this database lost its end. */
  lookPool: pg.Pool;
  log: EventLog;
  store: EventStore;
  guards: PostgresGuards;
  sealingKeys: VaultSealingKeys;
  vault: CertificateVault;
  readModel: ReadModel;
  keyring: Keyring;
};

type EngineOptions = DatabaseServerOptions & {
  clock: Clock;
  decorateStore?: (store: EventStore) => EventStore;
  /** Of a process of the service. */
  roles?: readonly Role[];
  /** Set by the rebuild that repairs it; all others refuse rows that were made from another log. */
  readModelOfAnyLog?: true;
  /** Set by the audit, which must not make the rows that it judges. */
  rowsAsTheyAre?: true;
};

/** Opens the engines in the order lock, database, migrations, keys. The runner closes them in reverse order. */
export const openEngines = async (options: EngineOptions): Promise<Engines> => {
  const { config, clock, logger, runner, decorateStore = (store) => store } = options;
  const addresses = await openDatabaseServer(options);
  const connectionString = addresses.service;
  const onIdleError = (): void => {
    if (!runner.stopping.aborted) logger.warn({ msg: 'a database connection was lost' });
  };
  const { poolSize, limits } = config.database;
  await prepareDatabase(addresses, limits, options.startedFor);
  const server = { connectionString, onIdleError, refuseStandby: true, ...limits };
  const applicationName = options.roles === undefined ? COMMAND_SESSION : sessionOfRoles(options.roles);
  const pool = openPool({ ...server, max: poolSize, applicationName });
  runner.onStop('database pool', () => pool.end());
  const lookPool = openLookPool(server);
  runner.onStop('pool of the looks', () => lookPool.end());
  // A lost guard row delays or refuses a request and never issues twice, so these commits do not wait for the disk.
  const guardPool = openPool({
    ...server,
    max: GUARD_CONNECTIONS,
    applicationName: 'nfse-guards',
    synchronousCommit: false,
  });
  runner.onStop('guard pool', () => guardPool.end());
  const keyring = await openMasterKeys(config, pool, clock);
  watchMasterKeys(keyring, logger, runner);
  const patienceMs = options.startedFor === 'command' ? COMMAND_PATIENCE_MS : 0;
  const log = await openEventLog(config, { connectionString, limits, onIdleError, lookPool }, runner, patienceMs);
  if (options.rowsAsTheyAre !== true) {
    if (options.readModelOfAnyLog !== true) await checkProjectedLog(pool, log, allProjections);
    await prepareProjections(pool, log, clock, allProjections);
  }
  const sealingKeys = createSealingKeys({ keyring, db: pool, clock });
  return {
    pool,
    lookPool,
    log,
    store: decorateStore(createEventStore(log, sealingKeys)),
    guards: createPostgresGuards(guardPool, {
      idempotencySeconds: config.idempotencySeconds,
      leaseSeconds: IDEMPOTENCY_LEASE_SECONDS,
      logApart: config.eventStoreUrl === undefined ? undefined : keptIdentity(log),
    }),
    sealingKeys,
    vault: createCertificateVault(pool, keyring, clock),
    readModel: createReadModel(pool),
    keyring,
  };
};

/**
 * One connection that no other work uses. All others of the process may lead to a server that vanished without a word, where a statement hangs for its
 * whole limit.
 */
const openLookPool = ({
  connectTimeoutMs = CONNECT_MS,
  ...server
}: Omit<PoolOptions, 'max' | 'applicationName'>): pg.Pool =>
  openPool({
    ...server,
    max: 1,
    applicationName: 'nfse-looks',
    statementTimeoutMs: LOOK_MS,
    lockTimeoutMs: LOOK_MS,
    answerTimeoutMs: LOOK_MS,
    // An operator who has raised the limit has a slow way to the server, over which no look would end well.
    connectTimeoutMs: connectTimeoutMs > CONNECT_MS ? connectTimeoutMs : LOOK_MS,
  });

/** Asked once: another log at the address pauses the work of this process until this log is back. */
const keptIdentity = (log: EventLog): (() => Promise<string>) => {
  let kept: string | undefined;
  return async () => {
    kept ??= await log.identity();
    return kept;
  };
};

/** The key file is created at the first start only; later a missing file is a fault. */
const openMasterKeys = async (
  { masterKeyFile, masterKeyMayBeMade }: Config,
  db: pg.Pool,
  clock: Clock,
): Promise<Keyring> => {
  const registered = await listGenerations(db);
  // A fresh key opens no sealed row, and its file would be where the lost one must be restored.
  if (registered.length > 0 && (await isMissing(masterKeyFile)))
    throw new MasterKeyUnusable(
      `the master key file ${masterKeyFile} is missing and this database was sealed with it: restore your copy (${adviceWithoutFile(masterKeyFile, registered)})`,
    );
  await loadMasterKeys(masterKeyFile, { createIfMissing: masterKeyMayBeMade });
  const readFile = () => loadMasterKeys(masterKeyFile, { createIfMissing: false });
  return await openKeyring({ readFile, file: masterKeyFile, db, clock });
};

/** A file in a folder that this process may not enter counts as there: reading the file says what to do. */
const isMissing = (file: string): Promise<boolean> =>
  access(file).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  );

/** Milliseconds. What an operator changes takes effect within 2 s. */
const EVERY_MS = 1_000;

/** Takes up a rotation of the master key without a restart. A problem of the key file is logged once, when it begins. */
const watchMasterKeys = (keyring: Keyring, logger: Logger, runner: Runner): void => {
  const watch = async (): Promise<void> => {
    let logged = '';
    let sealing = keyring.sealing().generation;
    while (!runner.stopping.aborted) {
      await pause(EVERY_MS, runner.stopping);
      if (runner.stopping.aborted) return;
      const problem = (await keyring.refresh()).join('; ');
      if (problem !== logged && problem !== '') logger.error({ msg: 'the master key file is not complete', problem });
      logged = problem;
      // While the key file has a problem there may be no sealing generation; the problem was already logged.
      const generation = problem === '' ? keyring.sealing().generation : sealing;
      if (generation !== sealing)
        logger.info({ msg: 'a new generation of the master key is in use for sealing', generation });
      sealing = generation;
    }
  };
  // Stopping does not wait for it: a silent database would delay the stop.
  void watch();
};

/** A restart or failover of EventStoreDB ends no audit, export or rebuild. */
const COMMAND_PATIENCE_MS = 60_000;

type Database = { connectionString: string; limits: SessionLimits; onIdleError: () => void; lookPool?: pg.Pool };

/** Opens EventStoreDB if `EVENTSTORE_URL` is set, otherwise the log table of the database. */
export const openEventLog = async (
  { eventStoreUrl }: Config,
  database: Database,
  runner: Runner,
  patienceMs = 0,
): Promise<EventLog> => {
  const log = eventStoreUrl === undefined ? postgresEventLog(database) : await eventStoreLog(eventStoreUrl, patienceMs);
  runner.onStop('event log', () => log.close());
  return log;
};

/** Imported on use: the client takes a third of a command's start time, and most installations do not need it. */
const eventStoreLog = async (url: string, readPatienceMs: number): Promise<EventStoreEventLog> => {
  const { createEventStoreEventLog } = await import('../../adapters/eventlog-eventstoredb/event-log.js');
  try {
    return createEventStoreEventLog({ url, readPatienceMs });
  } catch (error) {
    throw error instanceof AddressInvalid ? new FaultAtAddress('EVENTSTORE_URL', error) : error;
  }
};
