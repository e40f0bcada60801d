import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { type PostgresEventLog, postgresEventLog } from '../../src/adapters/eventlog-postgres/event-log.js';
import { generationRecords, readCheckpoint } from '../../src/projector/checkpoints.js';
import { prepareProjections, runProjector } from '../../src/projector/projector.js';
import { type RebuildOutcome, rebuildProjection } from '../../src/projector/rebuild.js';
import { eventually } from '../support/eventually.js';
import { accepted, attempted, deleted, streamOf } from '../support/fixture/histories.js';
import { runProgram } from '../support/harness/processes.js';
import { allOf, appendEvents, clock, dump } from '../support/harness/projector.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

const INVOICES = 30;

describeWithPostgres('a rebuild whose process is killed', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  let folder: string;
  let stop: AbortController;
  let running: Promise<void>;
  let followed: readonly string[];
  let halts: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-rebuild-'));
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString });
    await prepareProjections(database.pool, log, clock, [invoices]);
    stop = new AbortController();
    halts = [];
    running = runProjector({
      log,
      db: database.pool,
      clock,
      projections: [invoices],
      signal: stop.signal,
      onHalt: ({ reason }) => void halts.push(reason),
    });
    for (let n = 1; n <= INVOICES; n++) {
      await appendEvents(log, streamOf('test', n), [accepted('test', n), attempted(1, 5)]);
    }
    await appendEvents(log, streamOf('test', 1), [deleted]);
    await eventually(caughtUp);
    await log.cut(streamOf('test', 1), 2);
    followed = await dump(database.pool, invoices);
  });
  afterEach(async () => {
    stop.abort();
    await running;
    expect(halts).toEqual([]);
    await log.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  const caughtUp = async (): Promise<boolean> =>
    (await readCheckpoint(database.pool, invoices)) === (await allOf(log, invoices)).at(-1)?.position;

  /** The dead process's lock goes when the server has noticed. */
  const runAgain = async (): Promise<RebuildOutcome> => {
    let outcome: RebuildOutcome = { kind: 'busy' };
    await eventually(async () => {
      outcome = await rebuildProjection(invoices, stop.signal, { log, db: database.pool, clock });
      return outcome.kind !== 'busy';
    });
    return outcome;
  };

  it.each([
    { point: 'middle', left: ['live', 'building'], again: { generation: 2, resumes: true } },
    { point: 'before the commit of the swap', left: ['live', 'building'], again: { generation: 2, resumes: true } },
    { point: 'after the commit of the swap', left: ['previous', 'live'], again: { generation: 3, resumes: false } },
  ])(
    '$point: the rows that are read stay right, and run again it ends with the same',
    async ({ point, left, again }) => {
      const marker = join(folder, 'died');
      const child = runProgram(['test/projector/rebuild-child.ts'], {
        DATABASE_URL: database.connectionString,
        KILL_POINT: point,
        MARKER: marker,
      });
      expect(await child.ended, child.complaint()).toEqual({ code: null, signal: 'SIGKILL' });
      expect(existsSync(marker)).toBe(true);
      // The server takes the dead process's transaction back in its own time.
      await eventually(async () => {
        const { rows } = await database.pool.query(`select from pg_stat_activity where application_name = 'doomed'`);
        return rows.length === 0;
      });
      expect((await generationRecords(database.pool, 'invoices')).map(({ role }) => role)).toEqual(left);
      expect(await dump(database.pool, invoices)).toEqual(followed);

      const events = (await allOf(log, invoices)).length;
      const outcome = await runAgain();
      expect(outcome).toMatchObject({ kind: 'live', generation: again.generation });
      if (outcome.kind === 'live') expect(outcome.events < events).toBe(again.resumes);
      expect(await dump(database.pool, invoices)).toEqual(followed);

      await appendEvents(log, streamOf('test', 2), [attempted(2, 60)]);
      await eventually(caughtUp);
      const after = await dump(database.pool, invoices);
      expect(after).toHaveLength(INVOICES);
      expect(after.filter((row, index) => row !== followed[index])).toHaveLength(1);
    },
  );
});
