import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { credentials } from '../../projections/credentials.js';
import { invoices } from '../../projections/invoices.js';
import { allProjections } from '../../projections/registry.js';
import { everyType, type Projection, type Row } from '../../projections/types.js';
import { decodeSealed } from '../../src/app/event-store/codec.js';
import { companyStream } from '../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { evolve } from '../../src/domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../src/domain/invoice/state.js';
import type { EventBatch, EventLog, LogPosition } from '../../src/ports/event-log.js';
import { applyBatch, foldSteps, planBatch } from '../../src/projector/batch.js';
import { liveGeneration, readCheckpoint } from '../../src/projector/checkpoints.js';
import { changingTables, dropGeneration, viewOf } from '../../src/projector/generation-tables.js';
import { prepareProjections } from '../../src/projector/projector.js';
import {
  accepted,
  attempted,
  COMPANY,
  histories,
  keyCreated,
  registration,
  SECRETS,
  streamOf,
} from '../support/fixture/histories.js';
import {
  allOf,
  appendEvents,
  appendFromTheFuture,
  dump,
  emptyProjections,
  liveOf,
  NOW,
} from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

describeWithPostgres('applyBatch', () => {
  let database: FreshDatabase;
  let log: EventLog;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    log = memoryEventLog();
    await emptyProjections(database.pool, log);
  });
  afterAll(() => database.close());

  const apply = async (projection: Projection, from: LogPosition | null, batch: EventBatch) =>
    applyBatch(database.pool, await liveOf(database.pool, projection), from, batch, NOW);

  const replay = async (projection: Projection, cuts: readonly number[]): Promise<readonly string[]> => {
    const events = await allOf(log, projection);
    let from: LogPosition | null = null;
    let start = 0;
    for (let n = 0; start < events.length; n++) {
      const batch = events.slice(start, start + (cuts[n % cuts.length] ?? 1));
      const outcome = await apply(projection, from, batch);
      if (outcome.kind !== 'applied') throw new Error(`replay ended: ${JSON.stringify(outcome.kind)}`);
      from = outcome.position;
      start += batch.length;
    }
    expect(await readCheckpoint(database.pool, projection)).toBe(events.at(-1)?.position ?? null);
    return await dump(database.pool, projection);
  };

  it('gives byte-identical tables whatever the sizes of the batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }),
        async (lives, cuts) => {
          log = memoryEventLog();
          const longest = Math.max(...lives.map(({ events }) => events.length));
          for (let turn = 0; turn < longest; turn++) {
            for (const { stream, events } of lives) await appendEvents(log, stream, events.slice(turn, turn + 1));
          }
          await emptyProjections(database.pool, log);
          const atOnce = new Map<string, readonly string[]>();
          for (const projection of allProjections) atOnce.set(projection.name, await replay(projection, [500]));
          await emptyProjections(database.pool, log);
          for (const projection of allProjections) {
            expect(await replay(projection, cuts)).toEqual(atOnce.get(projection.name));
          }
        },
      ),
      { numRuns: 10 },
    );
  });

  it('makes rows that equal the fold of the same events, with every personal field still sealed', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (lives) => {
        log = memoryEventLog();
        for (const { stream, events } of lives) await appendEvents(log, stream, events);
        await emptyProjections(database.pool, log);
        const lines = await replay(invoices, [7]);
        for (const secret of SECRETS) expect(lines.join('\n')).not.toContain(secret);
        expect(lines.join('\n')).toContain('sealed:1:m1:');
        const { rows } = await database.pool.query<{ stream: string; revision: number; state: string }>(
          `select stream, revision, state from ${viewOf(invoices)}`,
        );
        for (const { stream, revision, state } of rows) {
          const events = (await log.read(stream)).map(decodeSealed);
          const folded = (events as unknown as InvoiceEvent[]).reduce<InvoiceState>(evolve, initialInvoice);
          expect(JSON.parse(state)).toEqual(JSON.parse(JSON.stringify(folded)));
          expect(revision).toBe(events.length - 1);
        }
      }),
      { numRuns: 5 },
    );
  });

  it('writes nothing when somebody else has moved the checkpoint', async () => {
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1), attempted(1, 5)]);
    const [first, second] = await allOf(log, invoices);
    if (first === undefined || second === undefined) throw new Error('two events were appended');
    await apply(invoices, null, [first]);
    const before = await dump(database.pool, invoices);
    expect(await apply(invoices, null, [first, second])).toEqual({ kind: 'moved' });
    expect(await dump(database.pool, invoices)).toEqual(before);
    expect(await readCheckpoint(database.pool, invoices)).toBe(first.position);
  });

  it('lets exactly one of several writers apply the same batch', async () => {
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1), attempted(1, 5)]);
    const batch = await allOf(log, invoices);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => apply(invoices, null, batch)));
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['applied', ...Array.from({ length: 7 }, () => 'moved')]);
  });

  it('finds no fault with the events when the table is gone, because the generation was dropped', async () => {
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1), attempted(1, 5)]);
    const batch = await allOf(log, invoices);
    const dropped = await liveOf(database.pool, invoices);
    const record = await liveGeneration(database.pool, invoices.name);
    await changingTables(database.pool, (client) => dropGeneration(client, record));
    expect(await applyBatch(database.pool, dropped, null, batch, NOW)).toEqual({ kind: 'moved' });
    expect(await applyBatch(database.pool, dropped, null, batch.slice(0, 1), NOW)).toEqual({ kind: 'moved' });
  });

  describe('halts, with all before the culprit written and the checkpoint not past it,', () => {
    it('on an event of a newer version', async () => {
      await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
      await appendFromTheFuture(log, streamOf('live', 1), 'InvoiceAccepted');
      await appendEvents(log, streamOf('live', 2), [accepted('live', 2)]);
      const batch = await allOf(log, invoices);
      const outcome = await apply(invoices, null, batch);
      expect(outcome).toMatchObject({
        kind: 'halted',
        position: batch[0]?.position,
        halt: { position: batch[1]?.position, type: 'InvoiceAccepted', reason: expect.stringMatching(/newer/) },
      });
      expect(await readCheckpoint(database.pool, invoices)).toBe(batch[0]?.position);
      expect(await dump(database.pool, invoices)).toHaveLength(1);
    });

    it('on an event that its handler refuses', async () => {
      await appendEvents(log, streamOf('live', 1), [attempted(1, 5)]);
      const outcome = await apply(invoices, null, await allOf(log, invoices));
      expect(outcome).toMatchObject({ kind: 'halted', position: null, halt: { type: 'IssuanceAttempted' } });
      expect(await readCheckpoint(database.pool, invoices)).toBeNull();
    });

    it('on a row that PostgreSQL refuses', async () => {
      const strict: Projection = { ...credentials, name: 'strict' };
      await prepareProjections(database.pool, log, { now: () => NOW }, [strict]);
      // PostgreSQL stores no NUL in a text.
      const nul = { ...keyCreated('k2'), data: { ...keyCreated('k2').data, keyHash: 'hash-\0' } };
      await appendEvents(log, companyStream(COMPANY), [
        { type: 'CompanyRegistered', data: { registration, at: NOW } },
        keyCreated('k1'),
        nul as ReturnType<typeof keyCreated>,
        keyCreated('k3'),
      ]);
      const batch = await allOf(log, strict);
      const outcome = await apply(strict, null, batch);
      expect(outcome).toMatchObject({
        kind: 'halted',
        halt: { position: batch[2]?.position, reason: expect.stringMatching(/22021/) },
      });
      expect(await readCheckpoint(database.pool, strict)).toBe(batch[1]?.position);
      expect(await dump(database.pool, strict)).toHaveLength(1);
    });
  });
});

describe('foldSteps', () => {
  const count = (row: Row | undefined, { revision }: Pick<Row, 'revision'>): Row => ({
    events: Number(row?.events ?? 0) + 1,
    revision,
  });
  const { foldAll: _foldAll, ...invoicesOneByOne } = invoices;
  const oneByOne: Projection = { ...invoicesOneByOne, handlers: everyType(invoices.eventTypes, count) };
  const rowByRow: Projection = {
    ...oneByOne,
    foldAll: (row, [first, ...others]) => others.reduce(count, count(row, first)),
  };

  it.each([
    ['one by one', oneByOne],
    ['row by row', rowByRow],
  ])('folds a repeated event once, also when a newer one follows, %s', async (_how, projection) => {
    const log = memoryEventLog();
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1), attempted(1, 5)]);
    const [first, second] = planBatch(projection, await allOf(log, projection)).steps;
    if (first === undefined || second === undefined) throw new Error('two events were appended');
    const both = { kind: 'upsert', row: { events: 2, revision: 1 } };
    const atOnce = foldSteps(projection, [first, first, second], new Map());
    expect([...atOnce.changes.values()]).toEqual([both]);
    const stored = new Map([[first.key, { events: 1, revision: 0 }]]);
    expect([...foldSteps(projection, [first, second], stored).changes.values()]).toEqual([both]);
  });
});
