import { afterEach, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import type { EventLog } from '../../src/ports/event-log.js';
import { generationRecords } from '../../src/projector/checkpoints.js';
import { remakeProjection } from '../../src/projector/rebuild.js';
import { accepted, attempted, streamOf } from '../support/fixture/histories.js';
import { projecting } from '../support/harness/projecting.js';
import { appendEvents, clock } from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres } from '../support/postgres.js';

describeWithPostgres('generations of a log that has lost its end', () => {
  const harness = projecting();
  const { invoice, rebuild, rollback, dump } = harness;
  afterEach(() => harness.end());

  const oneByOne = (log: EventLog): EventLog => ({
    ...log,
    readAll: (options) => log.readAll({ ...options, limit: 1 }),
  });

  /** An older state of the same log: it holds invoice 1 alone. */
  const loseTheEnd = async (): Promise<void> => {
    const identity = await harness.log.identity();
    harness.log = { ...memoryEventLog(), identity: async () => identity };
    await invoice(1);
  };

  const interruptedAfter = async (count: number): Promise<void> => {
    const broken = new AbortController();
    const onProgress = ({ events }: { events: number }): void => {
      if (events === count) broken.abort();
    };
    const stopped = await rebuild(invoices, { log: oneByOne(harness.log), onProgress }, broken.signal);
    expect(stopped).toEqual({ kind: 'stopped' });
    // The server frees the lock of an interrupted build a moment after its connection has ended.
    await expect.poll(async () => (await rollback(invoices)).kind).toBe('no_previous');
  };

  const revisions = async (): Promise<readonly unknown[]> => {
    const { rows } = await harness.pool.query('select stream, revision from read.invoices order by stream');
    return rows;
  };

  const rolesLeft = async (): Promise<readonly string[]> =>
    (await generationRecords(harness.pool, 'invoices')).map(({ role }) => role);

  it('gives up an interrupted build whose position the log does not reach', async () => {
    await invoice(1);
    await invoice(2);
    await interruptedAfter(4);
    await loseTheEnd();
    const rebuilt = await rebuild(invoices);
    expect(rebuilt).toMatchObject({ kind: 'live', events: 2 });
    expect(await revisions()).toEqual([{ stream: streamOf('live', 1), revision: 1 }]);
  });

  it('gives up an interrupted build at a position from which the log cannot be read', async () => {
    await invoice(1);
    await invoice(2);
    await interruptedAfter(4);
    harness.log = { ...harness.log, hasPlace: async () => false };
    const rebuilt = await rebuild(invoices);
    expect(rebuilt).toMatchObject({ kind: 'live', events: 4 });
  });

  it('refuses to go back to rows at a position from which the log cannot be read', async () => {
    await invoice(1);
    await rebuild(invoices);
    await rebuild(invoices);
    harness.log = { ...harness.log, hasPlace: async () => false };
    const back = await rollback(invoices);
    expect(back).toEqual({ kind: 'beyond_log' });
  });

  it('refuses to go back to rows that the log does not reach', async () => {
    await invoice(1);
    await invoice(2);
    await rebuild(invoices);
    await loseTheEnd();
    await rebuild(invoices);
    const back = await rollback(invoices);
    expect(back).toEqual({ kind: 'beyond_log' });
    expect(await dump(invoices)).toHaveLength(1);
  });

  it('are all made anew by a log recovery, also when the log has grown past their positions', async () => {
    await invoice(1);
    await invoice(2);
    await rebuild(invoices);
    await rebuild(invoices);
    await loseTheEnd();
    await appendEvents(harness.log, streamOf('live', 3), [accepted('live', 3), attempted(1, 5), attempted(2, 9)]);
    const remade = await remakeProjection(invoices, harness.signal, { log: harness.log, db: harness.pool, clock });
    expect(remade).toMatchObject({ kind: 'live', events: 5 });
    expect(await revisions()).toEqual([
      { stream: streamOf('live', 1), revision: 1 },
      { stream: streamOf('live', 3), revision: 2 },
    ]);
    expect(await rolesLeft()).toEqual(['live']);
    expect(await rollback(invoices)).toEqual({ kind: 'no_previous' });
  });

  it('lose an interrupted build too when a log recovery makes them anew', async () => {
    await invoice(1);
    await invoice(2);
    await interruptedAfter(3);
    await loseTheEnd();
    await invoice(3);
    await remakeProjection(invoices, harness.signal, { log: harness.log, db: harness.pool, clock });
    expect(await revisions()).toEqual([
      { stream: streamOf('live', 1), revision: 1 },
      { stream: streamOf('live', 3), revision: 1 },
    ]);
    expect(await rolesLeft()).toEqual(['live']);
  });
});
