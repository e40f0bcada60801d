import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { sendAppends } from '../../../src/adapters/eventlog-postgres/group-commit.js';
import { watchEnd } from '../../../src/adapters/eventlog-postgres/lost-end.js';
import { prepareAppend } from '../../../src/adapters/eventlog-postgres/prepared-append.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/ports/event-log.js';
import {
  chained,
  deletedTestInvoice,
  freshStream,
  freshTestInvoice,
  retried,
} from '../../support/harness/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { silentProxy } from '../../support/silent-proxy.js';

const NONE = { kind: 'none' } as const;

/** The server gives up at four fifths of it, and its answer has the rest: two seconds, of which a busy machine may take one. */
const DEADLINE_MS = 10_000;

describeWithPostgres('the postgres event log when things go wrong', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  beforeAll(async () => {
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString });
  });
  afterEach(async () => {
    await database.reset();
    // What the test has appended is lost to this log.
    await retried(async () => log.lostEnd?.isLost());
    log.lostEnd?.accept();
  });
  afterAll(async () => {
    await log.close();
    await database.close();
  });

  /** Holds the append lock while `during` runs, then rolls back. */
  const whileLocked = async (during: () => Promise<void>): Promise<void> => {
    const holder = await database.admin.connect();
    try {
      await holder.query('begin');
      await holder.query('select * from event_log_head for update');
      await during();
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  };

  /** Resolves when this many appends wait for the lock at the server. */
  const waiting = (count: number) =>
    vi.waitUntil(
      async () =>
        (
          await database.pool.query(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).rowCount === count,
      { timeout: 60_000, interval: 5 },
    );

  const endWaiting = () =>
    database.admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );

  it('calls the outcome unknown when the answer is lost, and reading tells that the append was stored', async () => {
    const proxy = await silentProxy(database.connectionString);
    const far = postgresEventLog({ connectionString: proxy.connectionString, appendDeadlineMs: DEADLINE_MS });
    await far.append(freshStream(), NONE, [chained('warm', 0)]);
    proxy.silence();
    const stream = freshStream();
    const events = [chained(stream, 0)];
    await expect(far.append(stream, NONE, events)).rejects.toThrow(AppendOutcomeUnknown);
    expect((await log.read(stream)).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect(await log.append(stream, NONE, events)).toEqual({ ok: true, revision: 0 });
    await far.close();
    await proxy.close();
  });

  it('calls the outcome unknown when the connection is ended during the append', async () => {
    await whileLocked(async () => {
      const outcome = log.append(freshStream(), NONE, [chained('any', 0)]).catch((error: unknown) => error);
      await waiting(1);
      await endWaiting();
      expect(await outcome).toBeInstanceOf(AppendOutcomeUnknown);
    });
    expect(await log.head()).toBeNull();
  });

  it('is certain that nothing was stored when the server gave up waiting for the lock', async () => {
    const hasty = postgresEventLog({ connectionString: database.connectionString, appendDeadlineMs: DEADLINE_MS });
    // The deadline counts from the call: an append that had to connect first could be given up before the server gives up.
    await hasty.append(freshStream(), NONE, [chained('warm', 0)]);
    const stream = freshStream();
    await whileLocked(async () => {
      const outcomes = [0, 1, 2].map(() => hasty.append(stream, NONE, [chained(stream, 0)]));
      for (const outcome of await Promise.allSettled(outcomes)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(EventLogUnavailable) });
      }
    });
    expect(await log.read(stream)).toEqual([]);
    await hasty.close();
  });

  describe('on the only connection of its writer', () => {
    let writer: pg.Pool;
    beforeEach(() => {
      const { connectionString } = database;
      writer = openPool({ connectionString, max: 1, applicationName: 'writer of a test', answerTimeoutMs: 2_000 });
    });
    afterEach(() => writer.end());

    const sessionOf = async (client: Pick<pg.Pool, 'query'>): Promise<unknown> =>
      (await client.query('select pg_backend_pid() as session')).rows[0];

    it('sends nothing more after a fault, because the statement may still run there', async () => {
      const stream = freshStream();
      const append = prepareAppend(stream, NONE, [chained(stream, 0)]);
      const before = await sessionOf(writer);
      await whileLocked(async () => {
        const sent = sendAppends(writer, watchEnd(writer))([append], new AbortController().signal);
        await expect(sent).rejects.toThrow(AppendOutcomeUnknown);
        expect(await sessionOf(writer)).not.toEqual(before);
        // The statement would append after this test.
        await endWaiting();
        await waiting(0);
      });
    });

    it('does not send an append whose deadline passed while it waited for the connection, which it gives back', async () => {
      const stream = freshStream();
      const append = prepareAppend(stream, NONE, [chained(stream, 0)]);
      const deadline = new AbortController();
      const client = await writer.connect();
      const before = await sessionOf(client);
      const sent = sendAppends(writer, watchEnd(writer))([append], deadline.signal);
      deadline.abort();
      client.release();
      await expect(sent).rejects.toThrow(EventLogUnavailable);
      expect(await log.read(stream)).toEqual([]);
      expect(await sessionOf(writer)).toEqual(before);
    });
  });

  it('is certain that nothing was stored when there is no server', async () => {
    const nowhere = postgresEventLog({ connectionString: 'postgres://nobody:none@127.0.0.1:1/none' });
    const stream = freshStream();
    await expect(nowhere.append(stream, NONE, [chained(stream, 0)])).rejects.toThrow(EventLogUnavailable);
    await nowhere.close();
    await expect(nowhere.append(stream, NONE, [chained(stream, 0)])).rejects.toThrow(EventLogUnavailable);
  });

  it('shows nothing behind a commit that is late', async () => {
    const [early, later] = ['order-early', 'order-later'];
    const late = await database.pool.connect();
    await late.query('begin');
    await late.query(`select event_log_append(array['${early}'], array[-1], array[1],
      array['${early}'], array[0], array[gen_random_uuid()], array['Late'], array['[1,"","${early}",0,"id","Late",[],{}]'], array['h'])`);
    const appended = log.append(later, NONE, [chained(later, 0)]);
    await waiting(1);
    expect(await log.readAll({ prefixes: ['order-'], after: null, limit: 10 })).toEqual([]);
    await late.query('commit');
    late.release();
    await appended;
    const events = await log.readAll({ prefixes: ['order-'], after: null, limit: 10 });
    expect(events.map(({ stream }) => stream)).toEqual([early, later]);
  });

  it('finds a rare stream behind many others', async () => {
    await database.admin.query(`insert into event_log (position, stream, revision, id, type, record, hash)
      select n, 'bulk-' || n, 0, gen_random_uuid(), 'Bulk', '', '' from generate_series(1, 45000) n`);
    await database.admin.query('update event_log_head set position = 45000');
    const stream = freshStream();
    await log.append(stream, NONE, [chained(stream, 0)]);
    const found = await log.readAll({ prefixes: [stream], after: null, limit: 10 });
    expect(found.map(({ position }) => position)).toEqual([45001n]);
  });

  describe('cut', () => {
    it('never takes the last event, which carries the revision of the stream', async () => {
      const stream = await deletedTestInvoice(log, 2);
      await log.cut(stream, 99);
      expect((await log.read(stream)).map(({ revision }) => revision)).toEqual([1]);
    });

    it.each([
      ['a test invoice that is not deleted', freshTestInvoice(), 'Happened'],
      ['a live invoice, even under an event that says so', 'nfseLive-12345678000195_1', 'TestInvoiceDeleted'],
      ['any other stream', freshStream(), 'TestInvoiceDeleted'],
    ])('takes nothing of %s', async (_what, stream, type) => {
      await log.append(stream, NONE, [chained(stream, 0), chained(stream, 1, { type })]);
      await expect(log.cut(stream, 1)).rejects.toThrow('only the past of a deleted test invoice may be cut');
      expect(await log.read(stream)).toHaveLength(2);
    });
  });
});
