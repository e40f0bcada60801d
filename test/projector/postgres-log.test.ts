import { afterAll, beforeAll, expect, it } from 'vitest';
import { allProjections } from '../../projections/registry.js';
import { type PostgresEventLog, postgresEventLog } from '../../src/adapters/eventlog-postgres/event-log.js';
import { createReadModel } from '../../src/adapters/read-model-postgres/read-model.js';
import { systemApiStream } from '../../src/domain/common/ids.js';
import { runProjector } from '../../src/projector/projector.js';
import { eventually } from '../support/eventually.js';
import { accepted, attempted, authorized, cancelRequested, streamOf } from '../support/fixture/histories.js';
import { appendEvents, clock, emptyProjections, NOW } from '../support/harness/projector.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

const windows = { queuedSeconds: 900, processingSeconds: 3_600, cancellationSeconds: 3_600 };

describeWithPostgres('projector over the log in PostgreSQL', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  beforeAll(async () => {
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString });
    await emptyProjections(database.pool, log);
  });
  afterAll(async () => {
    await log.close();
    await database.close();
  });

  it('shows what was appended before it started, while it runs, and after a restart', async () => {
    const read = createReadModel(database.pool);
    const revisionOf = async (n: number) => (await read.invoice(streamOf('live', n)))?.revision;
    const run = (signal: AbortSignal) =>
      runProjector({
        log,
        db: database.pool,
        clock,
        projections: allProjections,
        signal,
        onHalt: ({ reason }) => expect.fail(reason),
      });

    await appendEvents(log, streamOf('live', 1), [accepted('live', 1), attempted(1, 5)]);
    const first = new AbortController();
    const running = run(first.signal);
    await eventually(async () => (await revisionOf(1)) === 1);
    await appendEvents(log, streamOf('live', 1), [authorized(1, 6)]);
    await eventually(
      async () => (await revisionOf(1)) === 2 && (await read.openWork({ quietSince: null, windows }, 10)).length === 0,
    );
    first.abort();
    await running;

    await appendEvents(log, streamOf('live', 1), [cancelRequested(50)]);
    await appendEvents(log, systemApiStream, [{ type: 'ApiSwitchedOff', data: { at: NOW } }]);
    const second = new AbortController();
    const again = run(second.signal);
    await eventually(async () => (await revisionOf(1)) === 3 && (await read.apiSwitchedOff()));
    await eventually(async () =>
      (await read.openWork({ quietSince: null, windows }, 10)).some(({ kind }) => kind === 'cancel'),
    );
    second.abort();
    await again;
  });
});
