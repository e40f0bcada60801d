import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createMonitoringReads } from '../../../src/adapters/read-model-postgres/monitoring-reads.js';
import { createStoredNotices, type StoredNotices } from '../../../src/adapters/read-model-postgres/stored-notices.js';
import { invoiceStream, publicInvoiceId } from '../../../src/domain/common/ids.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import { createDifferenceTeller, createNoticeTeller } from '../../../src/runtime/engines/notices.js';
import { noticeChecks } from '../../../src/runtime/operator/checks.js';
import { at, T0 } from '../../support/fixture/invoice.js';
import { movableClock } from '../../support/harness/event-store.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const invoiceId = '11111111-1111-4111-8111-111111111111';
const stream = invoiceStream('live', '12345678000195', invoiceId);

describeWithPostgres('notices about received documents', () => {
  let database: FreshDatabase;
  let notices: StoredNotices;
  beforeAll(async () => {
    database = await freshDatabase();
    notices = createStoredNotices(database.pool);
  });
  afterAll(() => database.close());

  it('are no finding of doctor while there is none', async () => {
    expect(await noticeChecks(notices, movableClock(T0))).toMatchObject([
      { name: 'received documents', ok: true },
      { name: 'reconciliation', ok: true },
    ]);
  });

  it('are counted by kind and reason, and seen by doctor for a week', async () => {
    await notices.raise('signature_unverified', 'algorithm', stream, T0);
    await notices.raise('signature_unverified', 'algorithm', stream, at(60));
    await notices.raise('document_altered', '', stream, at(30));
    expect(await notices.all()).toEqual([
      { notice: 'signature_unverified', detail: 'algorithm', seen: 2, lastAt: at(60), lastStream: stream },
      { notice: 'document_altered', detail: '', seen: 1, lastAt: at(30), lastStream: stream },
    ]);
    const clock = movableClock(at(3_600));
    const [documents, differences] = await noticeChecks(notices, clock);
    expect(documents?.ok).toBe(false);
    expect(documents?.detail).toContain('signature_unverified (algorithm) 2 times');
    expect(documents?.detail).toContain(publicInvoiceId(invoiceId));
    expect(differences?.ok).toBe(true);
    clock.pass(8 * 86_400);
    expect(await noticeChecks(notices, clock)).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it('are counted for the metrics: kinds of the last days, and every time that one was seen', async () => {
    const { noticesSince } = createMonitoringReads(database.pool);
    const counted = (kinds: number) => [
      { notice: 'document_altered', mode: null, count: kinds, seen: 1 },
      { notice: 'signature_unverified', mode: null, count: kinds, seen: 2 },
    ];
    expect(await noticesSince(T0)).toEqual(counted(1));
    // What was seen does not go down when the days have passed, because a silence names it.
    expect(await noticesSince(at(61))).toEqual(counted(0));
  });

  it('of the reconciliation have a line of their own', async () => {
    await notices.raise('reconciliation_difference', 'live failed_but_found', stream, at(20));
    const [, differences] = await noticeChecks(notices, movableClock(at(30)));
    expect(differences).toMatchObject({ ok: false, cure: expect.stringContaining('NfseReconciliationDifference') });
    expect(differences?.detail).toContain('live failed_but_found');
    for (const kind of ['issued_but_absent', 'failed_but_found'])
      await notices.raise('reconciliation_difference', `test ${kind}`, stream, at(20));
    const { noticesSince } = createMonitoringReads(database.pool);
    const counted = (await noticesSince(T0)).filter(({ notice }) => notice === 'reconciliation_difference');
    expect(counted).toMatchObject([
      { mode: 'live', count: 1, seen: 1 },
      { mode: 'test', count: 2, seen: 2 },
    ]);
    await database.pool.query("delete from document_alarms where notice = 'reconciliation_difference'");
  });

  it('of a difference are stored again where the row of its mode and kind is lost or older, and never twice', async () => {
    const clock = movableClock(at(100));
    const tell = createDifferenceTeller({ pool: database.pool, clock, logger: createLogger('silent', 'stderr') });
    const kept = async () => (await notices.all()).filter(({ notice }) => notice === 'reconciliation_difference');
    const found = { kind: 'issued_but_absent', foundAt: at(100) } as const;
    await tell(stream, { ...found, isNew: true });
    await tell(stream, { ...found, isNew: false });
    expect(await kept()).toMatchObject([{ detail: 'live issued_but_absent', seen: 1, lastAt: at(100) }]);

    // The process ended after it had recorded another one.
    clock.pass(60);
    for (let round = 0; round < 2; round += 1) await tell(stream, { ...found, foundAt: at(130), isNew: false });
    expect(await kept()).toMatchObject([{ seen: 2, lastAt: at(160) }]);

    await database.pool.query("delete from document_alarms where notice = 'reconciliation_difference'");
    for (let round = 0; round < 2; round += 1) await tell(stream, { ...found, isNew: false });
    expect(await kept()).toMatchObject([{ seen: 1, lastAt: at(160), lastStream: stream }]);
    await database.pool.query("delete from document_alarms where notice = 'reconciliation_difference'");
  });

  it('of a difference that cannot be stored are refused, so that the comparison is repeated', async () => {
    const pool = { query: () => Promise.reject(new Error('the table is locked')) } as unknown as typeof database.pool;
    const tell = createDifferenceTeller({ pool, clock: movableClock(T0), logger: createLogger('silent', 'stderr') });
    await expect(tell(stream, { kind: 'second_note', foundAt: T0, isNew: true })).rejects.toThrow('locked');
  });

  it('are kept by the time a settlement has told them, and nothing else is', async () => {
    const logger = createLogger('silent', 'stderr');
    const tell = createNoticeTeller({ pool: database.pool, clock: movableClock(at(90)), logger });
    await tell({ kind: 'signature_unverified', detail: 'missing', stream });
    await tell({ kind: 'lookup_inconclusive', detail: 'html', stream });
    const kept = (await notices.all()).filter(({ lastAt }) => lastAt === at(90));
    expect(kept).toMatchObject([{ notice: 'signature_unverified', detail: 'missing', seen: 1, lastStream: stream }]);
  });

  it('of work for invoices that the log does not have are counted, and told once in a while, with what may be the cause', async () => {
    const logger = createLogger('silent', 'stderr');
    const warn = vi.spyOn(logger, 'warn');
    const counted: string[] = [];
    const metrics = { notice: (kind: string) => counted.push(kind) };
    const tell = createNoticeTeller({ pool: database.pool, clock: movableClock(at(200)), logger, metrics });
    for (let work = 0; work < 3; work += 1) await tell({ kind: 'unknown_invoice', stream });
    expect(counted).toEqual(Array.from({ length: 3 }, () => 'unknown_invoice'));
    expect(warn.mock.calls).toEqual([
      [
        expect.objectContaining({
          notice: 'unknown_invoice',
          msg: expect.stringMatching(/account of NATS, or an older copy of the log was put back$/),
        }),
      ],
    ]);
    expect((await notices.all()).filter(({ lastAt }) => lastAt === at(200))).toEqual([]);
  });
});
