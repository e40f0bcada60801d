import { existsSync } from 'node:fs';
import type pg from 'pg';
import { checkRegistry, registry } from '../../projections/registry.js';
import { createPostgresGuards, type PostgresGuards } from '../adapters/guards-postgres/guards.js';
import { createReadModel } from '../adapters/read-model-postgres/read-model.js';
import { openPool } from '../adapters/sql/pool.js';
import { createCertificateVault } from '../adapters/vault/certificate-vault.js';
import { loadMasterKeys, MasterKeyUnusable } from '../adapters/vault/key-file.js';
import { listGenerations } from '../adapters/vault/key-registry.js';
import { type Keyring, openKeyring } from '../adapters/vault/keyring.js';
import { withoutFile } from '../adapters/vault/lost-key.js';
import { createSealingKeys, type VaultSealingKeys } from '../adapters/vault/sealing-keys.js';
import { createEventStore, type EventStore } from '../app/event-store/event-store.js';
import type { CertificateVault } from '../ports/certificate-vault.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog } from '../ports/event-log.js';
import type { ReadModel } from '../ports/read-model.js';
import { checkProjectedLog, prepareProjections } from '../workers/projector.js';
import type { Config } from './config.js';
import { openDatabaseServer } from './database-server.js';
import { openEventLog } from './event-log.js';
import { watchMasterKeys } from './key-watch.js';
import type { Logger } from './logger.js';
import { prepareDatabase } from './prepare-database.js';
import type { Runner } from './runner.js';

/**
 * How long the retry of a request whose process died is told to wait. A claim that is taken over while its first owner still
 * works goes on with the same command id and invoice id, so a short lease risks no second invoice.
 */
const IDEMPOTENCY_LEASE_SECONDS = 5;

/** Each is held for one short statement. */
const GUARD_CONNECTIONS = 8;

/** What every role and every operator command stands on. */
export type Engines = {
  pool: pg.Pool;
  log: EventLog;
  store: EventStore;
  guards: PostgresGuards;
  sealingKeys: VaultSealingKeys;
  vault: CertificateVault;
  readModel: ReadModel;
  keyring: Keyring;
};

export type EngineOptions = {
  config: Config;
  clock: Clock;
  logger: Logger;
  runner: Runner;
  /** A command stops the database it started only when no other process uses it any more. */
  patience: 'serve' | 'command';
  decorateStore?: (store: EventStore) => EventStore;
  /** For the rebuild that cures it; everybody else refuses rows that were made from another log. */
  readModelOfAnyLog?: true;
};

/** How the server names the sessions of a process that has the engines open; it is never without one, for it looks after its keys. */
export const SERVICE_SESSION = 'nfse';

/** Opens the engines in the order lock, database, migrations, keys; each is closed by the runner in reverse. */
export const openEngines = async (options: EngineOptions): Promise<Engines> => {
  const { config, clock, logger, runner, decorateStore = (store) => store } = options;
  checkRegistry(registry);
  const addresses = await openDatabaseServer(options);
  const connectionString = addresses.service;
  const onIdleError = (): void => {
    if (!runner.stopping.aborted) logger.warn({ msg: 'a database connection was lost' });
  };
  const { poolSize, limits } = config.database;
  await prepareDatabase(addresses, limits);
  const server = { connectionString, onIdleError, ...limits };
  const pool = openPool({ ...server, max: poolSize, applicationName: SERVICE_SESSION });
  runner.onStop('database pool', () => pool.end());
  // A lost row of a guard delays or refuses and never issues twice, so these commits do not wait for the disk.
  const guardPool = openPool({
    ...server,
    max: GUARD_CONNECTIONS,
    applicationName: 'nfse-guards',
    synchronousCommit: false,
  });
  runner.onStop('guard pool', () => guardPool.end());
  const keyring = await openMasterKeys(config, pool, clock);
  watchMasterKeys(keyring, logger, runner);
  const log = await openEventLog(config, { connectionString, limits, onIdleError }, runner);
  await prepareProjections(pool, log, clock, registry.projections);
  if (options.readModelOfAnyLog !== true) await checkProjectedLog(pool, log, registry.projections);
  const sealingKeys = createSealingKeys({ keyring, db: pool, clock });
  return {
    pool,
    log,
    store: decorateStore(createEventStore(log, sealingKeys)),
    guards: createPostgresGuards(guardPool, {
      idempotencyTtlSeconds: config.idempotencySeconds,
      leaseSeconds: IDEMPOTENCY_LEASE_SECONDS,
    }),
    sealingKeys,
    vault: createCertificateVault(pool, keyring, clock),
    readModel: createReadModel(pool),
    keyring,
  };
};

/** Made at the first start only where it may be; from then on a file that vanished is a fault. */
const openMasterKeys = async (
  { masterKeyFile, masterKeyMayBeMade }: Config,
  db: pg.Pool,
  clock: Clock,
): Promise<Keyring> => {
  const registered = await listGenerations(db);
  // A fresh key beside sealed rows opens nothing, and would stand where the lost one has to be put back.
  if (registered.length > 0 && !existsSync(masterKeyFile))
    throw new MasterKeyUnusable(
      `the master key file ${masterKeyFile} is missing and this database was sealed with it: restore your copy (${withoutFile(masterKeyFile, registered)})`,
    );
  await loadMasterKeys(masterKeyFile, { createIfMissing: masterKeyMayBeMade });
  const readFile = () => loadMasterKeys(masterKeyFile, { createIfMissing: false });
  return await openKeyring({ readFile, file: masterKeyFile, db, clock });
};
