import { openPool } from '../../adapters/sql/pool.js';
import { givenUpBefore, giveUpGeneration } from '../../adapters/vault/give-up.js';
import { loadMasterKeys } from '../../adapters/vault/key-file.js';
import { appendAudit } from '../../app/audit/audit-trail.js';
import { createEventStore } from '../../app/event-store/event-store.js';
import type { GiveUp } from '../../cli/commands/master-key.js';
import type { Clock } from '../../ports/clock.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import type { Config } from '../config/config.js';
import { createLogger } from '../config/logger.js';
import { openDatabaseServer, prepareDatabase, serviceSessions } from '../engines/database.js';
import { openEventLog } from '../engines/engines.js';
import { createRunner } from '../engines/runner.js';

const NAME = 'nfse-give-up';

/** Opens no keys, because one is missing. Refused beside a process of the service: it seals with the lost key, and may be the last that can read. */
export const giveUpOf =
  (config: () => Config, clock: Clock): GiveUp =>
  async (generation, { actor, reason }) => {
    const settings = config();
    const { masterKeyFile: file, database } = settings;
    const logger = createLogger(settings.logLevel, 'stderr');
    const runner = createRunner((part) => logger.error({ msg: 'stopping failed', part }));
    try {
      const keys = await loadMasterKeys(file, { createIfMissing: false });
      const server = {
        config: settings,
        clock,
        logger,
        runner,
        startedFor: 'command' as const,
        onlyExisting: true as const,
      };
      const addresses = await openDatabaseServer(server);
      await prepareDatabase(addresses, database.limits, server.startedFor);
      const connectionString = addresses.service;
      const db = openPool({ ...database.limits, connectionString, max: 1, applicationName: NAME });
      runner.onStop('database pool', () => db.end());
      const log = await openEventLog(
        settings,
        { connectionString, limits: database.limits, onIdleError: () => undefined },
        runner,
      );
      // Before the look at the processes: after the start of the service, a repetition changes nothing.
      const before = await givenUpBefore(generation, { db, keys, file });
      if (before !== undefined) return before;
      // A process with the engines open reads its key generations once a second.
      const running = await serviceSessions(db);
      if (running > 0)
        return {
          refused: `a process of the service is still connected to the database (${running} connections): stop them all first`,
        };
      const deps = { store: createEventStore(log, nothingSealed), clock, actor: `support:${actor}` as const };
      return await giveUpGeneration(generation, deps.actor, {
        db,
        keys,
        file,
        clock,
        record: (giveUp) => appendAudit('MasterKeyGivenUp', { generation: giveUp, reason }, deps),
      });
    } finally {
      await runner.stop();
    }
  };

const noKey = (): never => {
  throw new Error('the event of a lost key has nothing personal in it');
};

const nothingSealed: SealingKeys = { forSealing: noKey, forOpening: noKey };
