import { afterEach, beforeEach, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import type { EventLog } from '../../src/ports/event-log.js';
import { applyBatch } from '../../src/projector/batch.js';
import { readCheckpoint } from '../../src/projector/checkpoints.js';
import { prepareProjections } from '../../src/projector/projector.js';
import { accepted, streamOf } from '../support/fixture/histories.js';
import { waitFor } from '../support/harness/careful-client.js';
import { allOf, appendEvents, clock, dump, liveOf, NOW } from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

const WITHIN_MS = 120_000;

describeWithPostgres('a projector that is frozen in the middle of a batch', () => {
  let database: FreshDatabase;
  let log: EventLog;
  beforeEach(async () => {
    database = await freshDatabase();
    log = memoryEventLog();
    await prepareProjections(database.pool, log, clock, [invoices]);
  });
  afterEach(() => database.close());

  it('holds up the next one for seconds only, and has written nothing', async () => {
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
    const batch = await allOf(log, invoices);
    const generation = await liveOf(database.pool, invoices);
    const pool = openPool({ connectionString: database.connectionString, max: 1, applicationName: 'frozen' });
    const frozen = new Promise<void>((reached) => {
      pool.on('connect', (client) => {
        const query = client.query.bind(client) as (...args: unknown[]) => unknown;
        const upToCommit = (...args: unknown[]): unknown => {
          if (args[0] !== 'commit') return query(...args);
          reached();
          return new Promise(() => undefined);
        };
        client.query = upToCommit as typeof client.query;
      });
    });
    void applyBatch(pool, generation, null, batch, NOW);
    await frozen;
    const outcome = await waitFor('the batch of the next one', WITHIN_MS, () =>
      applyBatch(database.pool, generation, null, batch, NOW).catch(() => undefined),
    );
    expect(outcome.kind).toBe('applied');
    expect(await dump(database.pool, invoices)).toHaveLength(1);
    expect(await readCheckpoint(database.pool, invoices)).toBe(batch.at(-1)?.position);
  });
});
