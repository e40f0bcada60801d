import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { deadlines } from '../../../projections/deadlines.js';
import { allProjections } from '../../../projections/registry.js';
import { createReadModel } from '../../../src/adapters/read-model-postgres/read-model.js';
import type { DomainEvent } from '../../../src/app/event-store/event-types.js';
import { companyStream, systemApiStream } from '../../../src/domain/common/ids.js';
import { epochMs } from '../../../src/domain/common/time.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import type { OpenWork, ReadModel, Timer } from '../../../src/ports/read-model.js';
import { applyBatch } from '../../../src/projector/batch.js';
import { readCheckpoint } from '../../../src/projector/checkpoints.js';
import { tableOf } from '../../../src/projector/generation-tables.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  COMPANY,
  cancelRequested,
  deleted,
  keyCreated,
  registration,
  streamOf,
} from '../../support/fixture/histories.js';
import { appendEvents, emptyProjections, liveOf, NOW } from '../../support/harness/projector.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const windows = { queuedSeconds: 900, processingSeconds: 3_600, cancellationSeconds: 2_000 };

describeWithPostgres('read model', () => {
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

  const read = () => createReadModel(database.pool);
  const given = async (stream: string, ...events: DomainEvent[]): Promise<void> => {
    await appendEvents(log, stream, events);
    for (const projection of allProjections) {
      const after = await readCheckpoint(database.pool, projection);
      const batch = await log.readAll({ prefixes: projection.prefixes, after, limit: 500 });
      await applyBatch(database.pool, await liveOf(database.pool, projection), after, batch, NOW);
    }
  };
  const issued = [attempted(1, 5), authorized(1, 6)];

  it('gives an invoice, and nothing for one that never was', async () => {
    await given(streamOf('live', 1), accepted('live', 1), ...issued);
    expect(await read().invoice(streamOf('live', 1))).toMatchObject({
      revision: 2,
      state: { outcome: { status: 'issued' } },
    });
    expect(await read().invoice(streamOf('live', 2))).toBeUndefined();
  });

  it('shows a deleted test invoice as deleted', async () => {
    await given(streamOf('test', 1), accepted('test', 1), deleted);
    expect(await read().invoice(streamOf('test', 1))).toEqual({ revision: 1, state: { kind: 'deleted' } });
  });

  it('gives companies and credentials', async () => {
    await given(
      companyStream(COMPANY),
      { type: 'CompanyRegistered', data: { registration, at: NOW } },
      keyCreated('k1'),
    );
    const key = { keyId: 'k1', companyId: COMPANY, mode: 'live', scopes: ['nfse:read'], revoked: false };
    expect(await read().credential('hash-k1')).toEqual(key);
    expect(await read().credentialById('k1')).toEqual(key);
    expect(await read().credential('k1')).toBeUndefined();
    expect(await read().company(COMPANY)).toMatchObject({ kind: 'company', enabled: false });
    expect(await read().companies()).toHaveLength(1);
    expect(await read().company('98765432000198')).toBeUndefined();
  });

  it('reads the companies and keys of one turn in a statement each, and each reader gets its own row', async () => {
    const registered: DomainEvent = { type: 'CompanyRegistered', data: { registration, at: NOW } };
    await given(companyStream(COMPANY), registered, keyCreated('k1'), keyCreated('k2'));
    const model = read();
    const taken = vi.spyOn(database.pool, 'connect');
    const keys = await Promise.all(['hash-k2', 'hash-k1', 'hash-k9', 'hash-k2'].map(model.credential));
    expect(keys.map((key) => key?.keyId)).toEqual(['k2', 'k1', undefined, 'k2']);
    const companies = await Promise.all([COMPANY, '98765432000198'].map(model.company));
    expect(companies.map((company) => company?.registration)).toEqual([registration, undefined]);
    expect(taken).toHaveBeenCalledTimes(2);
    taken.mockRestore();
  });

  it('knows the kill switch, which is off until it is used', async () => {
    expect(await read().apiSwitchedOff()).toBe(false);
    await given(systemApiStream, { type: 'ApiSwitchedOff', data: { at: NOW } });
    expect(await read().apiSwitchedOff()).toBe(true);
    await given(systemApiStream, { type: 'ApiSwitchedOn', data: { at: NOW } });
    expect(await read().apiSwitchedOff()).toBe(false);
  });

  it('lists open work whose last event is not after the instants, what is due first at the head', async () => {
    await given(streamOf('live', 1), accepted('live', 1, 30));
    await given(streamOf('live', 2), accepted('live', 2, 0), attempted(1, 20));
    await given(streamOf('live', 3), accepted('live', 3, 0), ...issued, cancelRequested(10));
    await given(streamOf('test', 4), accepted('test', 4, 0), ...issued);
    const all = { quietSince: null, windows };
    const open = async (queued: number, started: number, limit = 10) =>
      (await read().openWork({ ...all, quietSince: { queued: at(queued), started: at(started) } }, limit)).map(
        ({ stream }) => stream,
      );
    expect(await open(30, 20)).toEqual([streamOf('live', 1), streamOf('live', 3), streamOf('live', 2)]);
    expect(await open(29.999, 19.999)).toEqual([streamOf('live', 3)]);
    expect(await open(30, 20, 1)).toEqual([streamOf('live', 1)]);
    const due = (seconds: number) => ({ dueMs: epochMs(at(seconds)), mode: 'live', companyId: COMPANY });
    expect(await read().openWork(all, Number.MAX_SAFE_INTEGER)).toEqual([
      { stream: streamOf('live', 1), ...due(930), kind: 'issue', since: at(30), started: false },
      { stream: streamOf('live', 3), ...due(2_010), kind: 'cancel', since: at(10), started: false },
      { stream: streamOf('live', 2), ...due(3_620), kind: 'issue', since: at(20), started: true },
    ]);
  });

  it('puts work whose time is nearly up before thousands that are younger, whatever happened to it last', async () => {
    const young = Array.from({ length: 30 }, (_, n) => n + 10);
    for (const n of young) await given(streamOf('live', n), accepted('live', n, 3_000 + n));
    await given(streamOf('live', 1), accepted('live', 1, 0), attempted(1, 30), attempted(2, 3_500));
    const [first, second] = await read().openWork({ quietSince: null, windows }, 2);
    expect([first?.stream, second?.stream]).toEqual([streamOf('live', 1), streamOf('live', 10)]);
  });

  it('goes on with open work and due verdicts after the last row of a page', async () => {
    const numbers = [1, 2, 3, 4, 5];
    for (const n of numbers) await given(streamOf('live', n), accepted('live', n, n < 4 ? 0 : 9));
    const bounds = { queued: at(9), started: at(9), cancel: at(9) };
    const expectPages = async <Row extends { stream: string }>(ask: (after?: Row) => Promise<readonly Row[]>) => {
      const first = await ask();
      const second = await ask(first.at(-1));
      const third = await ask(second.at(-1));
      const pages = [first, second, third, await ask(third.at(-1))].map((page) => page.map(({ stream }) => stream));
      const [a, b, c, d, e] = numbers.map((n) => streamOf('live', n));
      expect(pages).toEqual([[a, b], [c, d], [e], []]);
    };
    await expectPages((after?: OpenWork) => read().openWork({ quietSince: null, windows }, 2, after));
    await expectPages((after?: OpenWork) => read().openWork({ quietSince: bounds, windows }, 2, after));
    await expectPages((after?: Timer) => read().verdictsDue(bounds, 2, after));
  });

  it('lists what a verdict by time may be due for, each kind by its own instant', async () => {
    await given(streamOf('live', 1), accepted('live', 1, 0));
    await given(streamOf('live', 2), accepted('live', 2, 0), attempted(1, 20), attempted(2, 500));
    await given(streamOf('live', 3), accepted('live', 3, 0), ...issued, cancelRequested(30));
    const due = async (beganBefore: Parameters<ReadModel['verdictsDue']>[0]) =>
      (await read().verdictsDue(beganBefore, 10)).map(({ stream }) => stream);
    expect(await due({})).toEqual([]);
    expect(await due({ queued: at(-1), started: at(19), cancel: at(29) })).toEqual([]);
    expect(await due({ queued: at(0) })).toEqual([streamOf('live', 1)]);
    expect(await due({ started: at(20) })).toEqual([streamOf('live', 2)]);
    expect(await due({ cancel: at(30) })).toEqual([streamOf('live', 3)]);
    expect(await due({ queued: at(9e3), started: at(9e3), cancel: at(9e3) })).toHaveLength(3);
  });

  it('finds what a sweep asks for by an index, however many test invoices wait for their retention', async () => {
    await given(streamOf('live', 1), accepted('live', 1, 0));
    const table = tableOf(await liveOf(database.pool, deadlines));
    await database.admin.query(
      `insert into ${table} (stream, revision, mode, company_id, started, retention_since)
       select 'nfseTest-' || n, 2, 'test', '${COMPANY}', false, '${at(9e3)}' from generate_series(1, 20000) n`,
    );
    await database.admin.query(`analyze ${table}`);
    const plans: string[] = [];
    const explaining = {
      connect: async () => {
        const client = await database.pool.connect();
        const query = async (text: string, values: unknown[]) => {
          const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
          plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
          return await client.query(text, values);
        };
        return { query, release: () => client.release() };
      },
    } as unknown as pg.Pool;
    const { openWork, verdictsDue, expiredTestInvoices } = createReadModel(explaining);
    const bounds = { queued: at(9), started: at(9), cancel: at(9) };
    const found = [
      await openWork({ quietSince: null, windows }, 200),
      await openWork({ quietSince: bounds, windows }, 200),
      await openWork({ quietSince: bounds, windows }, 200, { dueMs: 0, stream: '' }),
      await verdictsDue(bounds, 200),
      await verdictsDue(bounds, 200, { since: '', stream: '' }),
    ];
    expect(found.map((rows) => rows.map(({ stream }) => stream))).toEqual(Array(5).fill([streamOf('live', 1)]));
    expect(await expiredTestInvoices(at(9), 200)).toEqual([]);
    expect(plans).toHaveLength(6);
    for (const plan of plans) expect(plan).not.toContain('Seq Scan');
  });

  it('lists test invoices whose life is over, and no live ones', async () => {
    await given(streamOf('test', 1), accepted('test', 1, 10), ...issued);
    await given(streamOf('test', 2), accepted('test', 2, 5));
    await given(streamOf('live', 3), accepted('live', 3, 0));
    expect(await read().expiredTestInvoices(at(10), 10)).toEqual([streamOf('test', 2), streamOf('test', 1)]);
    expect(await read().expiredTestInvoices(at(9), 10)).toEqual([streamOf('test', 2)]);
    expect(await read().expiredTestInvoices(at(10), 1)).toEqual([streamOf('test', 2)]);
    await given(streamOf('test', 2), deleted);
    expect(await read().expiredTestInvoices(at(10), 10)).toEqual([streamOf('test', 1)]);
  });
});
