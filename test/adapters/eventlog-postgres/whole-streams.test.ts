import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { UnreadableEvent } from '../../../src/ports/event-log.js';
import { freshTestInvoice, streamOf } from '../../support/harness/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('the whole streams of many invoices', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  const streams = Array.from({ length: 40 }, () => freshTestInvoice());
  const revisionsIn = async (stream: string) => (await log.read(stream)).map(({ revision }) => revision);
  /** The statements that the work sends, by whether they ask for one stream or for several. */
  const statementsOf = async (work: () => Promise<unknown>) => {
    const sent = vi.spyOn(pg.Pool.prototype, 'query');
    await work();
    const texts = sent.mock.calls.map(([asked]) => JSON.stringify(asked));
    sent.mockRestore();
    const counted = (name: string) => texts.filter((text) => text.includes(name)).length;
    return { shared: counted('read-whole'), single: counted('read-forwards') };
  };

  beforeAll(async () => {
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString });
    // At once, so that the events of a stream lie apart in the log.
    await Promise.all(streams.map((stream, n) => streamOf(log, 1 + (n % 3), stream)));
  });
  afterAll(async () => {
    await log.close();
    await database.close();
  });

  it('are read by one statement in one turn, each with its events in their order', async () => {
    let read: readonly (readonly number[])[] = [];
    const sent = await statementsOf(async () => {
      read = await Promise.all(streams.map(revisionsIn));
    });
    expect(read).toEqual(streams.map((_, n) => Array.from({ length: 1 + (n % 3) }, (_event, revision) => revision)));
    expect(sent).toEqual({ shared: 1, single: 0 });
  });

  it('are not joined by the stream of anything else, which may be long', async () => {
    const other = await streamOf(log, 2);
    const sent = await statementsOf(async () => {
      expect(await revisionsIn(other)).toEqual([0, 1]);
    });
    expect(sent).toEqual({ shared: 0, single: 1 });
  });

  it('show what was appended before the question, also while an earlier question is under way', async () => {
    const stream = freshTestInvoice();
    const before = log.read(stream);
    await streamOf(log, 2, stream);
    const after = log.read(stream);
    expect((await before).length).toBeLessThanOrEqual(2);
    expect(await after).toHaveLength(2);
  });

  it('fail only for the reader of the one that cannot be read', async () => {
    const [altered = '', good = ''] = streams;
    await database.admin.query(`alter table event_log disable trigger user`);
    await database.admin.query(`update event_log set record = 'x' where stream = $1`, [altered]);
    const read = await Promise.allSettled([altered, good, freshTestInvoice()].map(revisionsIn));
    expect(read[0]).toMatchObject({ status: 'rejected', reason: expect.any(UnreadableEvent) });
    expect(read[1]).toMatchObject({ status: 'fulfilled', value: [0, 1] });
    expect(read[2]).toMatchObject({ status: 'fulfilled', value: [] });
  });
});
