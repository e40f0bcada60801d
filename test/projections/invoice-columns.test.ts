import { afterEach, beforeEach, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import type { Projection, Row } from '../../projections/types.js';
import { createPreviousGeneration } from '../../src/adapters/read-model-postgres/kept-rows.js';
import { createSupportReads, unsettledWork } from '../../src/adapters/read-model-postgres/support-reads.js';
import type { DomainEvent } from '../../src/app/event-store/event-types.js';
import { parseInvoiceStream } from '../../src/domain/common/ids.js';
import type { InvoiceState } from '../../src/domain/invoice/state.js';
import { type InvoiceStatus, invoiceStatus } from '../../src/domain/invoice/status.js';
import { InvoiceRowsUnreadable } from '../../src/ports/support-reads.js';
import { liveGeneration } from '../../src/projector/checkpoints.js';
import { rowsOfOtherVersions } from '../../src/projector/status.js';
import { startupFault } from '../../src/runtime/commands/startup-fault.js';
import { eventually } from '../support/eventually.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  COMPANY,
  cancelAttempted,
  cancelRequested,
  deleted,
  streamOf,
} from '../support/fixture/histories.js';
import { dataOf, imported } from '../support/fixture/invoice.js';
import { projecting } from '../support/harness/projecting.js';
import { dumpOf } from '../support/harness/projector.js';
import { describeWithPostgres } from '../support/postgres.js';

const VERSION_2_COLUMNS: readonly string[] = [
  'stream',
  'revision',
  'mode',
  'company_id',
  'invoice_id',
  'access_key',
  'dps_id',
  'reference',
  'created_at',
  'state',
];

const ofVersion2 = <T>(fields: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => VERSION_2_COLUMNS.includes(name)));

const { foldAll: _ofNewColumns, ...definition } = invoices;

/** The projection as it was before its rows had columns for status, amount and outcome. */
const version2: Projection = {
  ...definition,
  version: 2,
  columns: ofVersion2(invoices.columns),
  indexes: [{ columns: ['access_key'] }, { columns: ['dps_id'] }],
  handlers: Object.fromEntries(
    Object.entries(invoices.handlers).map(([type, handler]) => [
      type,
      handler === 'ignored'
        ? handler
        : (row, event) => {
            const made = handler(row, event);
            return made === 'delete' ? made : (ofVersion2(made) as Row);
          },
    ]),
  ),
};

const interrupted = (seconds: number): DomainEvent => ({
  type: 'IssuanceInterrupted',
  data: { failedAt: at(seconds), at: at(seconds) },
});

const statusOf = (state: InvoiceState): InvoiceStatus | undefined =>
  state.kind === 'invoice' ? invoiceStatus(state) : undefined;

const notConfirmed = (seconds: number): DomainEvent => ({
  type: 'CancellationNotConfirmed',
  data: { request: 1, reason: 'timeout', codes: [], at: at(seconds) },
});

describeWithPostgres('the columns of invoices', () => {
  const harness = projecting();
  const { append, dump, rebuild, rollback, start } = harness;
  beforeEach(async () => {
    await append(streamOf('live', 1), [accepted('live', 1, 1), attempted(1, 5), authorized(1, 6)]);
    await append(streamOf('live', 2), [accepted('live', 2, 2), attempted(1, 5), interrupted(3_600)]);
    await append(streamOf('test', 3), [accepted('test', 3, 0), attempted(1, 5), interrupted(3_600)]);
    await append(streamOf('test', 4), [accepted('test', 4, 4), deleted]);
  });
  afterEach(async () => {
    await harness.end();
    expect(harness.halts).toEqual([]);
  });

  /** Live rows as the program before this one left them. */
  const leftByVersion2 = async (): Promise<void> => {
    await harness.pool.query('delete from checkpoints');
    await harness.pool.query('drop view read.invoices');
    expect(await rebuild(version2)).toMatchObject({ kind: 'live', version: 2 });
  };

  it('arrive beside the rows of version 2, which this program does not read, and equal those of a rebuild byte for byte', async () => {
    await leftByVersion2();
    expect(await rowsOfOtherVersions(harness.pool, [invoices])).toEqual([
      { name: 'invoices', older: true, readable: false },
    ]);
    start([invoices]);
    await eventually(async () => (await liveGeneration(harness.pool, 'invoices')).version === invoices.version);
    await append(streamOf('live', 5), [accepted('live', 5, 50)]);
    await eventually(async () => (await dump(invoices)).length === 5);
    const followed = await dump(invoices);
    expect(await rebuild(invoices)).toMatchObject({ kind: 'live', events: 12 });
    expect(await dump(invoices)).toEqual(followed);
    const { rows } = await harness.pool.query(
      'select status, amount_in_cents::int as amount, outcome_at from read.invoices order by stream',
    );
    expect(rows).toEqual([
      { status: 'issued', amount: 12_345, outcome_at: at(6) },
      { status: 'indeterminate', amount: 12_345, outcome_at: at(3_600) },
      { status: 'queued', amount: 12_345, outcome_at: null },
      { status: 'indeterminate', amount: 12_345, outcome_at: at(3_600) },
      { status: null, amount: null, outcome_at: null },
    ]);
  });

  it('are missed by the reads of operators in the rows of version 2, and the message says what to do', async () => {
    await leftByVersion2();
    const {
      newest,
      indeterminate,
      failedCancellations,
      waitingCounts,
      invoices: byStream,
    } = createSupportReads(harness.pool);
    for (const read of [
      () => newest({ status: 'issued' }, 10),
      () => indeterminate(10),
      () => failedCancellations(10),
      () => waitingCounts(10),
      () => unsettledWork(harness.pool),
    ])
      await expect(read()).rejects.toThrow(InvoiceRowsUnreadable);
    const fault = startupFault(await indeterminate(10).catch((error: unknown) => error));
    expect(fault).toEqual({ exit: 1, line: expect.stringMatching(/ cannot read: nfse projections status shows /) });
    expect(await byStream([streamOf('live', 1)])).toHaveLength(1);
  });

  it('give support the invoices that wait, oldest first', async () => {
    await rebuild(invoices);
    const { indeterminate } = createSupportReads(harness.pool);
    const { oldest } = await indeterminate(10);
    expect(oldest.map(({ stream }) => stream)).toEqual([streamOf('test', 3), streamOf('live', 2)]);
    expect(await indeterminate(1)).toMatchObject({
      count: 2,
      oldest: [{ stream: streamOf('test', 3) }],
    });
  });

  it('give support the failed live cancellations that nobody closed', async () => {
    const failed = [cancelRequested(10), cancelAttempted(1, 11), notConfirmed(3_700)];
    await append(streamOf('live', 1), failed);
    const failedOnes = () => createSupportReads(harness.pool).failedCancellations(3);
    const one = { count: 1, oldest: [{ stream: streamOf('live', 1) }] };
    const unsettled = [
      { mode: 'live', kind: 'indeterminate', count: 1, oldest: at(3_600) },
      { mode: 'test', kind: 'indeterminate', count: 1, oldest: at(3_600) },
    ];
    const unconfirmed = { mode: 'live', kind: 'cancellation_unconfirmed', count: 1, oldest: at(10) };
    await rebuild(invoices);
    expect(await failedOnes()).toMatchObject(one);
    const counts = () => createSupportReads(harness.pool).waitingCounts(1);
    // Two are indeterminate, and no count goes beyond what is asked for.
    expect(await counts()).toEqual({ indeterminate: 1, failedCancellations: 1 });
    expect(await unsettledWork(harness.pool)).toEqual([...unsettled, unconfirmed]);
    await append(streamOf('live', 1), [
      { type: 'CancellationClosedBySupport', data: { evidence: 'portal', at: at(4_000) } },
    ]);
    await rebuild(invoices);
    expect(await failedOnes()).toEqual({ count: 0, oldest: [] });
    expect(await counts()).toEqual({ indeterminate: 1, failedCancellations: 0 });
    expect(await unsettledWork(harness.pool)).toEqual(unsettled);
  });

  it('give support the invoices of a status, a mode, a company and a time', async () => {
    await rebuild(invoices);
    const { newest } = createSupportReads(harness.pool);
    const streams = async (filter: Parameters<typeof newest>[0]) =>
      (await newest(filter, 10)).map(({ stream }) => stream);
    expect(await streams({ status: 'indeterminate' })).toEqual([streamOf('live', 2), streamOf('test', 3)]);
    expect(await streams({ status: 'indeterminate', mode: 'test', companyId: COMPANY })).toEqual([streamOf('test', 3)]);
    const all = await newest({}, 10);
    const middle = all[1]?.createdAt;
    expect(await streams({ since: middle })).toEqual(all.slice(0, 2).map(({ stream }) => stream));
    expect(await streams({ until: middle })).toEqual(all.slice(2).map(({ stream }) => stream));
  });

  it('give support the invoices whose access key begins as that of a note with its number', async () => {
    await rebuild(invoices);
    const { newest, byKeyBegins } = createSupportReads(harness.pool);
    const [row] = await newest({ status: 'issued' }, 1);
    const key = row?.state.kind === 'invoice' && row.state.outcome.status === 'issued' && row.state.outcome.accessKey;
    const begins = String(key).slice(0, 36);
    expect([begins.length, await byKeyBegins([begins, '0'.repeat(36)])]).toEqual([36, [row?.stream]]);
    const other = `${begins.slice(0, -1)}${begins.endsWith('9') ? '8' : '9'}`;
    expect([await byKeyBegins([other]), await byKeyBegins([])]).toEqual([[], []]);
  });

  it('give support the newest invoices, page by page, of one company or of all', async () => {
    await rebuild(invoices);
    const { newest } = createSupportReads(harness.pool);
    const streams = [streamOf('live', 2), streamOf('live', 1), streamOf('test', 3)];
    for (const of of [{}, { companyId: COMPANY }]) {
      const [first, ...others] = await newest(of, 10);
      expect([first, ...others].map((row) => row?.stream)).toEqual(streams);
      if (first === undefined) throw new Error('no row');
      expect((await newest({ ...of, before: first }, 1)).map(({ stream }) => stream)).toEqual(streams.slice(1, 2));
    }
    expect(await newest({ companyId: '98765432000198' }, 10)).toEqual([]);
  });

  it('give support the invoices that were imported without a date last, page by page, and not to a question for a time', async () => {
    const undated = [6, 5].map((number) => streamOf('live', number));
    const data = dataOf(imported(), 'InvoiceImported');
    for (const stream of undated) {
      const { invoiceId = '' } = parseInvoiceStream(stream) ?? {};
      await append(stream, [{ type: 'InvoiceImported', data: { ...data, companyId: COMPANY, invoiceId } }]);
    }
    await rebuild(invoices);
    const { newest } = createSupportReads(harness.pool);
    const all = await newest({}, 10);
    expect(all.map(({ stream }) => stream)).toEqual([
      streamOf('live', 2),
      streamOf('live', 1),
      streamOf('test', 3),
      ...undated,
    ]);
    expect(await newest({}, 4)).toEqual(all.slice(0, 4));
    for (const place of [2, 3]) expect(await newest({ before: all[place] }, 10)).toEqual(all.slice(place + 1));
    expect(await newest({ companyId: COMPANY, mode: 'live', status: 'issued' }, 10)).toEqual(
      all.filter(({ stream, state }) => stream.startsWith('nfseLive') && statusOf(state) === 'issued'),
    );
    expect(await newest({ since: at(-86_400 * 365) }, 10)).toEqual(all.slice(0, 3));
  });

  it.each([
    ['notes by number', `access_key between '1' and '2'`],
    ['waiting invoices', `status = 'indeterminate' order by created_at limit 3`],
    ['the newest of all', 'created_at is not null order by created_at desc, stream desc limit 3'],
    [
      'the newest of a company',
      `created_at is not null and company_id = '${COMPANY}' order by created_at desc, stream desc`,
    ],
    ['access keys', `access_key in ('1', '2')`],
    ['the DPS id of a last attempt', `dps_id = 'DPS1'`],
    ['cancellations without confirmation', `cancellation_status = 'failed'`],
  ])('have an index for %s', async (_name, rest) => {
    await rebuild(invoices);
    const client = await harness.pool.connect();
    try {
      // The planner would read four rows without an index.
      await client.query('begin; set local enable_seqscan = off');
      const { rows } = await client.query(`explain select stream from read.invoices where ${rest}`);
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Index (Only )?Scan|Bitmap Index Scan/);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it.each([
    ['this version', invoices],
    ['version 2', version2],
  ])('are emptied with a test invoice in a previous generation of %s, but for its identity', async (_name, before) => {
    if (before === version2) await leftByVersion2();
    else await rebuild(before);
    await rebuild(invoices);
    const generation = (await liveGeneration(harness.pool, 'invoices')).generation - 1;
    const table = `"p_invoices_v${before.version}_g${generation}".rows`;
    const others = async () =>
      (await dumpOf(harness.pool, before, table)).filter((row) => !row.includes(streamOf('test', 3)));
    const untouched = await others();
    await createPreviousGeneration(harness.pool).end(streamOf('test', 3));
    const { rows } = await harness.pool.query(`select * from ${table} where stream = $1`, [streamOf('test', 3)]);
    const handler = before.handlers.TestInvoiceDeleted;
    if (handler === undefined || handler === 'ignored') throw new Error('no handler');
    expect(rows).toEqual([handler(undefined, { ...deleted, stream: streamOf('test', 3), revision: 2 })]);
    expect(await others()).toEqual(untouched);
    await append(streamOf('test', 3), [deleted]);
    expect(await rollback(before)).toMatchObject({ kind: 'live' });
    const rolledBack = await dump(before);
    expect(await rebuild(before)).toMatchObject({ kind: 'live' });
    expect(await dump(before)).toEqual(rolledBack);
  });
});
