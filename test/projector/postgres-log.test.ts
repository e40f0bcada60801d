import { afterAll, beforeAll, expect, it } from 'vitest';
import { deadlines } from '../../projections/deadlines.js';
import { allProjections } from '../../projections/registry.js';
import { type PostgresEventLog, postgresEventLog } from '../../src/adapters/eventlog-postgres/event-log.js';
import { createReadModel } from '../../src/adapters/read-model-postgres/read-model.js';
import { inTransaction } from '../../src/adapters/sql/transaction.js';
import { systemApiStream } from '../../src/domain/common/ids.js';
import { applyBatch } from '../../src/projector/batch.js';
import { liveGeneration, moveCheckpoint, readCheckpoint } from '../../src/projector/checkpoints.js';
import { runProjector } from '../../src/projector/projector.js';
import { eventually } from '../support/eventually.js';
import { accepted, attempted, authorized, cancelRequested, streamOf } from '../support/fixture/histories.js';
import { retried } from '../support/harness/event-log.js';
import { appendEvents, clock, emptyProjections, liveOf, NOW } from '../support/harness/projector.js';
import { loseEndUnder } from '../support/lost-end.js';
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

  it('shows what is accepted after a failover that lost the last event, and nothing of what was lost', async () => {
    const lively = await freshDatabase();
    lively.pool.on('error', () => undefined);
    const survivor = postgresEventLog({ connectionString: lively.connectionString, onIdleError: () => undefined });
    await emptyProjections(lively.pool, survivor);
    const stop = new AbortController();
    const { signal } = stop;
    const onHalt = ({ reason }: { reason: string }) => expect.fail(reason);
    const running = runProjector({
      log: survivor,
      db: lively.pool,
      clock,
      signal,
      onHalt,
      projections: allProjections,
    });
    const shown = async () => {
      const { rows } = await lively.admin.query<{ stream: string }>('select stream from read.deadlines order by 1');
      return rows.map(({ stream }) => stream);
    };
    const accept = (n: number) => appendEvents(survivor, streamOf('live', n), [accepted('live', n)]);
    for (const n of [1, 2, 3]) await accept(n);
    await eventually(async () => (await shown()).length === 3);
    await loseEndUnder(survivor, lively, 2n);
    for (const n of [4, 5]) await retried(() => accept(n));
    await expect.poll(shown).toEqual([1, 2, 4, 5].map((n) => streamOf('live', n)));
    stop.abort();
    await running;
    await survivor.close();
    await lively.close();
  });

  it('reads no event but the one at the checkpoint when it moves a checkpoint', async () => {
    const numbers = Array.from({ length: 300 }, (_, n) => 1_000 + n);
    await Promise.all(numbers.map((n) => appendEvents(log, streamOf('live', n), [accepted('live', n)])));
    await database.admin.query('analyze event_log');
    const [last] = await log.readLast({ prefixes: deadlines.prefixes, limit: 1 });
    const { position: from } = await liveGeneration(database.pool, deadlines.name);
    const move = { from, to: last?.position ?? expect.fail('no event'), hash: last?.metadata.hash };
    const generation = await liveOf(database.pool, deadlines);
    const { moved, read } = await inTransaction(database.pool, async (client) => ({
      moved: await moveCheckpoint(client, generation, move, NOW),
      read: await client.query(
        `select seq_tup_read::int + idx_tup_fetch::int as events from pg_stat_xact_user_tables where relname = 'event_log'`,
      ),
    }));
    expect([moved, read.rows]).toEqual([true, [{ events: 1 }]]);
  });

  it('does not fold a batch that it read before a failover which lost it', async () => {
    const accept = (n: number) => appendEvents(log, streamOf('live', n), [accepted('live', n)]);
    const before = await log.head();
    await accept(7);
    const batch = await log.readAll({ prefixes: deadlines.prefixes, after: before, limit: 10 });
    const generation = await liveOf(database.pool, deadlines);
    const apply = () => applyBatch(database.pool, generation, null, batch, NOW);
    await database.pool.query('update checkpoints set position = null');
    await loseEndUnder(log, database, before ?? 0n);
    const atItsEnd = await retried(apply);
    await retried(() => accept(8));
    const withAnother = await apply();
    expect([atItsEnd, withAnother]).toEqual([{ kind: 'moved' }, { kind: 'moved' }]);
    const [other] = await log.readAll({ prefixes: deadlines.prefixes, after: before, limit: 10 });
    expect([batch[0]?.position, other?.position]).toEqual([other?.position, batch[0]?.position]);
    expect(await readCheckpoint(database.pool, deadlines)).toBeNull();
  });
});
