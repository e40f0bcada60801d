import { afterAll, beforeAll, expect, it } from 'vitest';
import { SimulatorElsewhere } from '../../src/runtime/engines/simulator.js';
import { eventually } from '../support/eventually.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

describeWithPostgres('two processes on one database without an authorizer', () => {
  let database: FreshDatabase;
  let first: RunningService;
  beforeAll(async () => {
    database = await freshDatabase();
    first = await startRunningService({ DATABASE_URL: database.connectionString });
  });
  afterAll(async () => {
    await first.close();
    await database.close();
  });

  const second = () =>
    startRunningService({
      DATABASE_URL: database.connectionString,
      MASTER_KEY_FILE: `${first.config.dataDir}/master.key`,
    });
  /** The session that has the lock. */
  const holder = async (): Promise<number | undefined> =>
    (
      await database.admin.query<{ pid: number }>(
        `select pid from pg_locks where locktype = 'advisory'
         and ((classid::bigint << 32) | objid::bigint) = hashtextextended('simulator', 0)
         and database = (select oid from pg_database where datname = current_database())`,
      )
    ).rows[0]?.pid;

  it('run one simulator, also after the server has ended every session', async () => {
    await expect(second()).rejects.toBeInstanceOf(SimulatorElsewhere);
    const before = await holder();
    await database.breakConnections();
    await eventually(holder, (pid) => pid !== undefined && pid !== before);
    await expect(second()).rejects.toBeInstanceOf(SimulatorElsewhere);
  });
});
