import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { credentials } from '../../projections/credentials.js';
import { invoices } from '../../projections/invoices.js';
import { allProjections, operatorProjections } from '../../projections/registry.js';
import { createReadModel } from '../../src/adapters/read-model-postgres/read-model.js';
import { companyStream } from '../../src/domain/common/ids.js';
import type { EventLog } from '../../src/ports/event-log.js';
import { applyStreamNow } from '../../src/projector/apply-now.js';
import { liveGeneration } from '../../src/projector/checkpoints.js';
import { tableOf } from '../../src/projector/generation-tables.js';
import { projectionStatus } from '../../src/projector/status.js';
import { eventually } from '../support/eventually.js';
import {
  accepted,
  attempted,
  COMPANY,
  deleted,
  histories,
  keyCreated,
  keyRevoked,
  registration,
  streamOf,
} from '../support/fixture/histories.js';
import { projecting } from '../support/harness/projecting.js';
import { allOf, appendFromTheFuture, clock, dumpOf, NOW } from '../support/harness/projector.js';
import { describeWithPostgres } from '../support/postgres.js';

describeWithPostgres('a rebuild beside the live rows', () => {
  const harness = projecting();
  const { append, dump, invoice, rebuild, rollback, start, caughtUp } = harness;
  afterEach(async () => {
    await harness.end();
    expect(harness.halts).toEqual([]);
  });

  const schemas = async (): Promise<readonly string[]> => {
    const { rows } = await harness.pool.query<{ generation: string }>(
      `select substring(nspname from '_(g[0-9]+)$') as generation from pg_namespace
       where nspname like 'p\\_invoices\\_%' order by generation`,
    );
    return rows.map(({ generation }) => generation);
  };
  /** The log, with a callback each time that its end is reached. */
  const atTheEnd = (happen: () => Promise<void>, own: Partial<EventLog> = {}): EventLog => ({
    ...harness.log,
    ...own,
    readAll: async (options) => {
      const batch = await (own.readAll ?? harness.log.readAll)(options);
      if (batch.length === 0) await happen();
      return batch;
    },
  });

  it('gives every projection the rows that following gave it, byte for byte, also of streams that retention has cut', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (lives) => {
        await harness.begin();
        start();
        const longest = Math.max(...lives.map(({ events }) => events.length));
        for (let turn = 0; turn < longest; turn++) {
          for (const { stream, events } of lives) await append(stream, events.slice(turn, turn + 1));
        }
        await eventually(() => caughtUp(allProjections));
        for (const { stream, events } of lives) {
          if (events.at(-1)?.type === 'TestInvoiceDeleted') await harness.log.cut(stream, events.length - 1);
        }
        for (const projection of allProjections) {
          const followed = await dump(projection);
          const before = await liveGeneration(harness.pool, projection.name);
          expect(await rebuild(projection)).toMatchObject({ kind: 'live', position: before.position });
          const live = await liveGeneration(harness.pool, projection.name);
          expect(live.generation).toBe(before.generation + 1);
          expect(await dump(projection)).toEqual(followed);
        }
        await harness.end();
      }),
      { numRuns: 5 },
    );
  });

  it('is followed by a running projector without a restart, no event lost and none doubled, however often it happens', async () => {
    start([invoices]);
    for (let n = 1; n <= 4; n++) {
      await invoice(n);
      await eventually(caughtUp);
      // Two rebuilds without an event between: the table that the projector wrote last does not exist when the next event comes.
      expect(await rebuild(invoices)).toMatchObject({ kind: 'live', events: 2 * n });
      expect(await rebuild(invoices)).toMatchObject({ kind: 'live', events: 2 * n });
    }
    await invoice(5);
    await eventually(caughtUp);
    const followed = await dump(invoices);
    expect(followed).toHaveLength(5);
    await rebuild(invoices);
    expect(await dump(invoices)).toEqual(followed);
  });

  it('holds what came between its catching up and the swap, with the projector stopped', async () => {
    for (let n = 1; n <= 5; n++) await invoice(n);
    let late = false;
    const growing = atTheEnd(async () => {
      if (late) return;
      late = true;
      await invoice(6);
    });
    expect(await rebuild(invoices, { log: growing })).toMatchObject({ kind: 'live' });
    expect(await dump(invoices)).toHaveLength(6);
    expect(await caughtUp()).toBe(true);
  });

  it('goes back to catching up when the log has gone on too far to be folded under the lock', async () => {
    await invoice(1);
    let bursts = 0;
    const oneByOne: EventLog['readAll'] = (options) => harness.log.readAll({ ...options, limit: 1 });
    const bursting = atTheEnd(
      async () => {
        bursts += 1;
        if (bursts === 1) for (let n = 2; n <= 8; n++) await invoice(n);
      },
      { readAll: oneByOne },
    );
    expect(await rebuild(invoices, { log: bursting })).toMatchObject({ kind: 'live' });
    expect(bursts).toBeGreaterThan(1);
    expect(await dump(invoices)).toHaveLength(8);
    expect(await caughtUp()).toBe(true);
  });

  it('does not undo a revocation that was applied ahead of a stopped projector', async () => {
    const company = companyStream(COMPANY);
    await append(company, [{ type: 'CompanyRegistered', data: { registration, at: NOW } }, keyCreated('k1')]);
    let revoked = false;
    const revoking = atTheEnd(async () => {
      if (revoked) return;
      revoked = true;
      await append(company, [keyRevoked('k1')]);
      await applyStreamNow(harness.pool, operatorProjections, await harness.log.read(company));
    });
    await rebuild(credentials, { log: revoking });
    expect(revoked).toBe(true);
    expect(await createReadModel(harness.pool).credential('hash-k1')).toMatchObject({ revoked: true });
  });

  it('lets a revocation that comes during the swap wait, and then write into the new rows', async () => {
    const company = companyStream(COMPANY);
    await append(company, [{ type: 'CompanyRegistered', data: { registration, at: NOW } }, keyCreated('k1')]);
    let ended = false;
    let applied: Promise<void> | undefined;
    const isWaiting = async (): Promise<boolean> => {
      const { rows } = await harness.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%key share%'`,
      );
      return rows.length > 0;
    };
    const slow: EventLog = atTheEnd(
      async () => {
        ended = true;
      },
      {
        head: async () => {
          const head = await harness.log.head();
          if (!ended || applied !== undefined) return head;
          // The swap holds its locks and has just read the head, so an append at this moment comes after that head.
          await append(company, [keyRevoked('k1')]);
          applied = applyStreamNow(harness.pool, operatorProjections, await harness.log.read(company));
          await Promise.race([applied, eventually(isWaiting)]);
          return head;
        },
      },
    );
    expect(await rebuild(credentials, { log: slow })).toMatchObject({ kind: 'live' });
    await applied;
    expect(applied).toBeDefined();
    expect(await createReadModel(harness.pool).credential('hash-k1')).toMatchObject({ revoked: true });
  });

  it('goes on after an interruption where its own checkpoint stands, the live rows untouched', async () => {
    for (let n = 1; n <= 4; n++) await invoice(n);
    const broken = new AbortController();
    const oneByOne: EventLog = { ...harness.log, readAll: (options) => harness.log.readAll({ ...options, limit: 1 }) };
    const onProgress = ({ events }: { events: number }): void => {
      if (events === 3) broken.abort();
    };
    expect(await rebuild(invoices, { log: oneByOne, onProgress }, broken.signal)).toEqual({ kind: 'stopped' });
    const statusNow = async () =>
      (await projectionStatus([invoices], { db: harness.pool, log: harness.log, clock }))[0];
    // The server frees the lock of an interrupted build a moment after its connection has ended.
    await expect.poll(statusNow).toMatchObject({ rebuilding: { generation: 2, running: false } });
    expect(await statusNow()).toMatchObject({ generation: 1, position: null });
    expect((await statusNow())?.rebuilding?.progress).toBeCloseTo(3 / 8);
    expect(await dump(invoices)).toEqual([]);
    expect(await rebuild(invoices)).toMatchObject({ kind: 'live', generation: 2, events: 5 });
    expect(await dump(invoices)).toHaveLength(4);
  });

  it('turns away a second one of the same projection, and shows as running meanwhile', async () => {
    await invoice(1);
    const seen: unknown[] = [];
    const nosy = atTheEnd(async () => {
      if (seen.length > 0) return;
      seen.push(await rebuild(invoices), await rollback(invoices));
      const [status] = await projectionStatus([invoices], { db: harness.pool, log: harness.log, clock });
      seen.push(status?.rebuilding?.running);
    });
    expect(await rebuild(invoices, { log: nosy })).toMatchObject({ kind: 'live' });
    expect(seen).toEqual([{ kind: 'busy' }, { kind: 'busy' }, true]);
  });

  it('halts at an event that it cannot apply and leaves the live rows alone', async () => {
    await invoice(1);
    start([invoices]);
    await eventually(caughtUp);
    await harness.end();
    const before = await dump(invoices);
    await appendFromTheFuture(harness.log, streamOf('live', 1), 'InvoiceAccepted');
    expect(await rebuild(invoices)).toMatchObject({ kind: 'halted', halt: { type: 'InvoiceAccepted', revision: 2 } });
    expect(await liveGeneration(harness.pool, 'invoices')).toMatchObject({ generation: 1 });
    expect(await dump(invoices)).toEqual(before);
  });

  it('takes no halt from what a log still hands out of a stream that was cut', async () => {
    await append(streamOf('test', 1), [accepted('test', 1), attempted(1, 5), attempted(2, 9), deleted]);
    await invoice(2);
    const uncut = await allOf(harness.log, invoices);
    await harness.log.cut(streamOf('test', 1), 3);
    expect(await rebuild(invoices)).toMatchObject({ kind: 'live' });
    const clean = await dump(invoices);
    // As EventStoreDB does between two chunks of a scavenge: the acceptance is gone, what followed it is not yet.
    const scavenged: EventLog = {
      ...harness.log,
      readAll: async ({ after, limit }) =>
        uncut
          .slice(1)
          .filter(({ position }) => position > (after ?? 0n))
          .slice(0, limit),
    };
    expect(await rebuild(invoices, { log: scavenged })).toMatchObject({ kind: 'live' });
    expect(await dump(invoices)).toEqual(clean);
  });

  it('waits for a reader that holds the view, and lets the others read meanwhile', async () => {
    await invoice(1);
    const reader = await harness.pool.connect();
    await reader.query('begin; select count(*) from read.invoices');
    const rebuilt = rebuild(invoices);
    const read = createReadModel(harness.pool);
    // A read during the rebuild's wait for its lock waits too, so the check for that wait must not read the same table.
    const isWaiting = async (): Promise<boolean> => {
      const { rows } = await harness.pool.query(
        `select from pg_locks where locktype = 'relation' and not granted
         and relation = 'read.invoices'::regclass and mode = 'AccessExclusiveLock'`,
      );
      return rows.length > 0;
    };
    for (let waits = 0; waits < 2; waits++) {
      await eventually(isWaiting);
      // Let through once the rebuild has given up for a while.
      await read.invoice(streamOf('live', 1));
    }
    await reader.query('commit');
    reader.release();
    expect(await rebuilt).toMatchObject({ kind: 'live' });
    expect(await dump(invoices)).toHaveLength(1);
  });

  describe('and its rollback', () => {
    it('goes back to the generation before, brought up to date, and forth again', async () => {
      await invoice(1);
      await rebuild(invoices);
      await invoice(2);
      await rebuild(invoices);
      expect(await schemas()).toEqual(['g2', 'g3']);
      await invoice(3);
      const fresh = await dumpOf(harness.pool, invoices, tableOf(await liveGeneration(harness.pool, 'invoices')));
      expect(await rollback(invoices)).toMatchObject({ kind: 'live', generation: 2, events: 4 });
      const back = await dump(invoices);
      expect(back).toHaveLength(3);
      expect(back).toEqual(expect.arrayContaining([...fresh]));
      start([invoices]);
      await invoice(4);
      await eventually(caughtUp);
      expect(await rollback(invoices)).toMatchObject({ kind: 'live', generation: 3 });
      expect(await dump(invoices)).toHaveLength(4);
      expect(await schemas()).toEqual(['g2', 'g3']);
    });

    it('is refused when there is nothing to go back to', async () => {
      expect(await rollback(invoices)).toEqual({ kind: 'no_previous' });
    });
  });
});
