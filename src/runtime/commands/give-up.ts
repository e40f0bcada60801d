import type pg from 'pg';
import { openPool } from '../../adapters/sql/pool.js';
import { giveUpGeneration } from '../../adapters/vault/give-up.js';
import { loadMasterKeys } from '../../adapters/vault/key-file.js';
import { recordSupportAct } from '../../app/audit/support-act.js';
import { createEventStore } from '../../app/event-store/event-store.js';
import type { GiveUp } from '../../cli/commands/master-key-give-up.js';
import type { Clock } from '../../ports/clock.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import type { Config } from '../config.js';
import { openDatabaseServer } from '../database-server.js';
import { SERVICE_SESSION } from '../engines.js';
import { openEventLog } from '../event-log.js';
import { createLogger } from '../logger.js';
import { prepareDatabase } from '../prepare-database.js';
import { createRunner } from '../runner.js';

const NAME = 'nfse-give-up';

/**
 * Opens database and log without the keys, which do not open while one is missing. Refused while a process of the service runs:
 * it has the lost key in memory, goes on sealing with it, and may be the last that can read.
 */
export const giveUpOf =
  (config: () => Config, clock: Clock): GiveUp =>
  async (generation, { actor, reason }) => {
    const settings = config();
    const { masterKeyFile: file, database } = settings;
    const logger = createLogger(settings.logLevel, 'stderr');
    const runner = createRunner((part) => logger.error({ msg: 'stopping failed', part }));
    try {
      const keys = await loadMasterKeys(file, { createIfMissing: false });
      const server = { config: settings, clock, logger, runner, patience: 'command' as const };
      const addresses = await openDatabaseServer(server);
      await prepareDatabase(addresses, database.limits);
      const connectionString = addresses.service;
      const db = openPool({ ...database.limits, connectionString, max: 1, applicationName: NAME });
      runner.onStop('database pool', () => db.end());
      const log = await openEventLog(
        settings,
        { connectionString, limits: database.limits, onIdleError: () => undefined },
        runner,
      );
      const running = await connectionsOfOthers(db);
      if (running > 0)
        return {
          refused: `a process of the service is still connected to the database (${running} connections): stop them all first`,
        };
      const deps = { store: createEventStore(log, nothingSealed), clock, actor: `support:${actor}` as const };
      return await giveUpGeneration(generation, deps.actor, {
        ...{ db, keys, file, clock },
        record: (giveUp) => recordSupportAct({ giveUp, reason }, deps),
      });
    } finally {
      await runner.stop();
    }
  };

/** Of our user, whatever machine they are on; each process of the service looks once a second whether its keys still stand. */
const connectionsOfOthers = async (db: pg.Pool): Promise<number> => {
  const { rows } = await db.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
     where datname = current_database() and application_name = $1`,
    [SERVICE_SESSION],
  );
  return rows[0]?.others ?? 0;
};

const noKey = (): never => {
  throw new Error('the event of a lost key has nothing personal in it');
};

const nothingSealed: SealingKeys = { forSealing: noKey, forOpening: noKey };
