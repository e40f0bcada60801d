import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { stoppedSeries } from '../../../src/app/operator/support/stopped-series.js';
import { dpsStream } from '../../../src/domain/common/ids.js';
import { UnreadableEvent } from '../../../src/ports/event-log.js';
import { registration } from '../../support/fixture/company.js';
import { T0 } from '../../support/fixture/invoice.js';
import { appendTo, fixedKeys } from '../../support/harness/event-store.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('the last events of many streams', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  let store: EventStore;
  const companies = Array.from({ length: 300 }, (_, n) => ({
    registration: { ...registration, cnpj: String(n).padStart(14, '0') },
  }));
  const used = { nextNumber: 4, number: 3, invoiceId: '00000000-0000-8000-a000-000000000001', at: T0 };
  const seriesOf = (index: number) => dpsStream('live', String(index).padStart(14, '0'), registration.dps.live.series);
  beforeAll(async () => {
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString });
    store = createEventStore(log, fixedKeys());
    await appendTo(store, seriesOf(5), [{ type: 'DpsNumberAllocated', data: used }], T0);
    await appendTo(store, seriesOf(290), [{ type: 'DpsSeriesBlocked', data: used }], T0);
  });
  afterAll(async () => {
    await log.close();
    await database.close();
  });

  it('are read in statements of 128, so that the stopped series of 300 companies take a few', async () => {
    const sent = vi.spyOn(pg.Pool.prototype, 'query');
    const stopped = await stoppedSeries(companies, store);
    const lastReads = sent.mock.calls.filter(([asked]) => JSON.stringify(asked).includes('event_log where stream'));
    sent.mockRestore();
    expect(stopped.map(({ companyId, mode }) => `${mode} ${companyId}`)).toEqual(['live 00000000000290']);
    // 600 streams, and the last recovery.
    expect(lastReads).toHaveLength(6);
  });

  it('fail only for the reader of the one that cannot be read', async () => {
    await database.admin.query(`alter table event_log disable trigger user`);
    await database.admin.query(`update event_log set record = 'x' where stream = $1`, [seriesOf(5)]);
    const last = (index: number) => log.read(seriesOf(index), { direction: 'backwards', limit: 1 });
    const [altered, good, none] = await Promise.allSettled([5, 290, 291].map(last));
    expect(altered).toMatchObject({ status: 'rejected', reason: expect.any(UnreadableEvent) });
    expect(good).toMatchObject({ status: 'fulfilled', value: [{ type: 'DpsSeriesBlocked' }] });
    expect(none).toMatchObject({ status: 'fulfilled', value: [] });
  });
});
