import { describe, expect, it } from 'vitest';
import { type DecodedEvent, decodeSealed } from '../../../../src/app/event-store/codec.js';
import { createEventStore } from '../../../../src/app/event-store/event-store.js';
import { invoiceIdOfReference } from '../../../../src/app/event-store/hashes.js';
import {
  findStream,
  invoiceOfDpsId,
  kindsToLookFor,
  SCANNED_AT_ONCE,
  type SearchDeps,
  searchInvoices,
} from '../../../../src/app/operator/support/search.js';
import { revealsStream } from '../../../../src/domain/audit/events.js';
import { dpsStream, invoiceStream, type StreamName } from '../../../../src/domain/common/ids.js';
import type { DpsNumberEvent } from '../../../../src/domain/dps-number/events.js';
import type { InvoiceEvent } from '../../../../src/domain/invoice/events.js';
import { evolve } from '../../../../src/domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../../../src/domain/invoice/state.js';
import type { SupportRow } from '../../../../src/ports/support-reads.js';
import { DEMO_CNPJ, demoCompany } from '../../../support/fixture/demo.js';
import { ACCESS_KEY, accepted, attempted, authorized, DPS_ID, T0 } from '../../../support/fixture/invoice.js';
import { contextAt, fixedKeys, movableClock } from '../../../support/harness/event-store.js';
import { memoryEventLog } from '../../../support/memory/event-log.js';

const OWN_ID = '22222222-2222-4222-8222-222222222222';
const by = { command: 'test', actor: 'support:maria' } as const;

const createHarness = () => {
  const log = memoryEventLog();
  const keys = fixedKeys();
  const store = createEventStore(log, keys);
  const clock = movableClock(T0);
  const rowsOf = (streams: readonly StreamName[]): Promise<readonly SupportRow[]> =>
    Promise.all(
      streams.map(async (stream) => {
        const events = (await log.read(stream)).map((one) => decodeSealed(one) as DecodedEvent<InvoiceEvent>);
        return { stream, createdAt: T0, state: events.reduce<InvoiceState>(evolve, initialInvoice) };
      }),
    ).then((rows) => rows.filter(({ state }) => state.kind !== 'none'));
  const put = async (stream: StreamName, ...events: readonly (InvoiceEvent | DpsNumberEvent)[]): Promise<void> => {
    await store.append(stream, { kind: 'none' }, events, contextAt(T0, { companyId: DEMO_CNPJ }));
  };
  const deps = (newest: SearchDeps['supportReads']['newest'] = async () => []): SearchDeps => ({
    store,
    log,
    clock,
    sealingKeys: keys,
    testRetentionSeconds: 604_800,
    readModel: { companies: async () => [demoCompany(DEMO_CNPJ)], byAccessKeys: async () => [] },
    supportReads: {
      invoices: rowsOf,
      byDpsId: async () => [],
      byKeyBegins: async () => [],
      newest,
      indeterminate: async () => ({ count: 0, oldest: [] }),
      failedCancellations: async () => ({ count: 0, oldest: [] }),
      waitingCounts: async () => ({ indeterminate: 0, failedCancellations: 0 }),
    },
  });
  return { log, keys, clock, rowsOf, put, deps };
};

describe('what is searched for', () => {
  it.each([
    ['nfse_11111111-1111-4111-8111-111111111111', 'id'],
    [ACCESS_KEY, 'access-key'],
    [DPS_ID, 'dps-id'],
    ['52998224725', 'document'],
    ['529.982.247-25', 'document'],
    ['12.345.678/0001-95', 'document'],
    ['12ABC34501DE35', 'document'],
    ['pedido-1', 'reference'],
    ['12345', 'reference'],
    ['529 982 247 25', 'document'],
    ['529982247-25', 'document'],
    ['11222333/0001-81', 'document'],
    ['11 222 333 0001 81', 'document'],
    ['CPF 529.982.247-25', 'document'],
    ['cnpj: 12.ABC.345/01DE-35', 'document'],
    ['PEDIDO-2026-0001', 'reference'],
    ['NFSE_11111111-1111-4111-8111-111111111111', 'id'],
    ['11111111111141118111111111111111', 'id'],
    [ACCESS_KEY.replaceAll(/(.{4})/g, '$1.'), 'access-key'],
    [ACCESS_KEY.replaceAll(/(.{5})/g, '$1-'), 'access-key'],
    [`NFS${ACCESS_KEY}`, 'access-key'],
    [` ${ACCESS_KEY.replaceAll(/(.{4})/g, '$1 ')}`, 'access-key'],
  ])('%s is taken for a reference, and then for %s', (text, kind) => {
    expect(kindsToLookFor(text)).toEqual(kind === 'reference' ? ['reference'] : ['reference', kind]);
    expect(kindsToLookFor(text, 'document')).toEqual(['document']);
  });
});

it('digits are taken for the number of a note where a company is given', () => {
  expect(kindsToLookFor('12345', undefined, DEMO_CNPJ)).toEqual(['reference', 'number']);
  for (const text of ['12345678901234', '0', '12a', '52998224725'])
    expect([text, kindsToLookFor(text, undefined, DEMO_CNPJ).includes('number')]).toEqual([text, false]);
});

describe('a search by the number of the note', () => {
  const query = { text: '148', kinds: ['number'], companyId: DEMO_CNPJ } as const;

  it('asks by how the keys of the company begin, once for each beginning', async () => {
    const { put, deps, rowsOf } = createHarness();
    const stream = invoiceStream('live', DEMO_CNPJ, OWN_ID);
    await put(stream, accepted({ companyId: DEMO_CNPJ, invoiceId: OWN_ID }), attempted(1, 1), authorized(1, 2));
    const asked: (readonly string[])[] = [];
    const [row] = await rowsOf([stream]);
    const known = deps(async ({ companyId }) => (row === undefined || companyId !== DEMO_CNPJ ? [] : [row, row]));
    const byKeyBegins = async (begins: readonly string[]) => {
      asked.push(begins);
      return [stream];
    };
    const result = await searchInvoices(query, { ...known, supportReads: { ...known.supportReads, byKeyBegins } }, by);
    expect(asked).toEqual([[ACCESS_KEY.slice(0, 36)]]);
    expect(result.found.map((found) => found.stream)).toEqual([stream]);
  });

  it('finds nothing without a company', async () => {
    const { deps } = createHarness();
    expect((await searchInvoices({ ...query, companyId: undefined }, deps(), by)).found).toEqual([]);
  });
});

describe('a search by reference', () => {
  it('finds the invoice in the log whose row is not there yet', async () => {
    const { put, deps } = createHarness();
    const invoiceId = invoiceIdOfReference('live', DEMO_CNPJ, 'nova');
    const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
    await put(stream, accepted({ companyId: DEMO_CNPJ, invoiceId, reference: 'nova' }));
    const late = { ...deps(), supportReads: { ...deps().supportReads, invoices: async () => [] } };
    const { found, lookedFor } = await searchInvoices({ text: 'nova', kinds: ['reference', 'id'] }, late, by);
    expect([lookedFor, found.map((row) => row.stream)]).toEqual([['reference'], [stream]]);
    expect((await searchInvoices({ text: 'outra', kinds: ['reference'] }, late, by)).found).toEqual([]);
  });

  it('finds the invoices of the wanted company alone', async () => {
    const { put, deps } = createHarness();
    const invoiceId = invoiceIdOfReference('live', DEMO_CNPJ, 'minha');
    const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
    await put(stream, accepted({ companyId: DEMO_CNPJ, invoiceId, reference: 'minha' }));
    const search = async (companyId: string) =>
      (await searchInvoices({ text: 'minha', kinds: ['reference'], companyId }, deps(), by)).found.length;
    expect([await search(DEMO_CNPJ), await search('20000075000180')]).toEqual([1, 0]);
  });

  it.each([
    ['0b9a7a5e-3a44-4d5e-9f60-1c2d3e4f5a6b', 'id'],
    ['00000004711', 'document'],
    ['PEDIDO20260001', 'document'],
    ['A'.repeat(50), 'access-key'],
  ])('finds %s, which looks like another kind, and opens no customer', async (reference, kind) => {
    const { put, deps, log } = createHarness();
    const invoiceId = invoiceIdOfReference('live', DEMO_CNPJ, reference);
    const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
    await put(stream, accepted({ companyId: DEMO_CNPJ, invoiceId, reference }));
    const kinds = kindsToLookFor(reference);
    const result = await searchInvoices({ text: reference, kinds }, deps(), by);
    expect([result.lookedFor, result.found.map((row) => row.stream)]).toEqual([['reference'], [stream]]);
    expect(await log.read(revealsStream)).toEqual([]);
    const text = `${reference.slice(0, -1)}9`;
    expect((await searchInvoices({ text, kinds }, deps(), by)).lookedFor).toEqual(['reference', kind]);
  });

  it('follows the reference of an imported invoice to the invoice, which has an id of its own', async () => {
    const { put, deps } = createHarness();
    const taken = invoiceStream('live', DEMO_CNPJ, invoiceIdOfReference('live', DEMO_CNPJ, 'antiga'));
    const own = invoiceStream('live', DEMO_CNPJ, OWN_ID);
    await put(taken, { type: 'ReferenceTaken', data: { invoiceId: OWN_ID, takenAt: T0 } });
    await put(own, accepted({ companyId: DEMO_CNPJ, invoiceId: OWN_ID }));
    const { found } = await searchInvoices({ text: 'antiga', kinds: ['reference'] }, deps(), by);
    expect(found.map(({ stream }) => stream)).toEqual([own]);
  });

  it('finds a test invoice until its life is over', async () => {
    const { put, deps, clock } = createHarness();
    const invoiceId = invoiceIdOfReference('test', DEMO_CNPJ, 'teste');
    const stream = invoiceStream('test', DEMO_CNPJ, invoiceId);
    await put(stream, accepted({ mode: 'test', companyId: DEMO_CNPJ, invoiceId }));
    const search = async () => (await searchInvoices({ text: 'teste', kinds: ['reference'] }, deps(), by)).found.length;
    expect(await search()).toBe(1);
    clock.pass(604_799);
    expect(await search()).toBe(1);
    clock.pass(1);
    expect(await search()).toBe(0);
  });
});

it('a search by access key takes the key as it is pasted: in groups, or with the NFS of the XML', async () => {
  const { deps } = createHarness();
  const asked: string[] = [];
  const readModel: SearchDeps['readModel'] = {
    companies: async () => [],
    byAccessKeys: async (keys) => {
      asked.push(...keys);
      return [];
    },
  };
  for (const text of [ACCESS_KEY, `NFS${ACCESS_KEY}`, ` ${ACCESS_KEY.replaceAll(/(.{4})/g, '$1 ')}`])
    await searchInvoices({ text, kinds: kindsToLookFor(text) }, { ...deps(), readModel }, by);
  expect(asked).toEqual([ACCESS_KEY, ACCESS_KEY, ACCESS_KEY]);
});

describe('a search by document', () => {
  const many = async (count: number) => {
    const { put, deps, rowsOf, keys } = createHarness();
    const stream = invoiceStream('live', DEMO_CNPJ, OWN_ID);
    await put(stream, accepted({ companyId: DEMO_CNPJ, invoiceId: OWN_ID }));
    const [row] = await rowsOf([stream]);
    const rows = row === undefined ? [] : Array.from({ length: count }, () => row);
    return { keys, deps: deps(async () => rows), stream };
  };
  const query = { text: '11.111.111/0001-91', kinds: ['document'] } as const;

  it('names where the next search begins when it has looked at the most invoices of one search', async () => {
    const full = await many(SCANNED_AT_ONCE);
    expect(await searchInvoices(query, full.deps, by)).toMatchObject({
      lookedAt: SCANNED_AT_ONCE,
      next: { createdAt: T0, stream: full.stream },
    });
    const { deps } = await many(3);
    const result = await searchInvoices(query, deps, by);
    expect([result.lookedAt, result.found.length, result.next]).toEqual([3, 3, undefined]);
  });

  it('stops when it has found the wanted number, and the next search begins after the last invoice that was looked at', async () => {
    const { deps, stream } = await many(3);
    const next = { createdAt: T0, stream };
    expect(await searchInvoices({ ...query, most: 2 }, deps, by)).toMatchObject({ lookedAt: 2, next });
    const all = await searchInvoices({ ...query, most: 3 }, deps, by);
    expect([all.found.length, all.next]).toEqual([3, undefined]);
  });

  it('takes the name of the document before it', async () => {
    const { deps } = await many(1);
    for (const text of ['CNPJ 11.111.111/0001-91', 'cnpj: 11111111000191'])
      expect([text, (await searchInvoices({ ...query, text }, deps, by)).found.length]).toEqual([text, 1]);
  });

  it('finds nothing whose key was destroyed, and nothing for a text without letter or digit', async () => {
    const { deps, keys } = await many(1);
    expect((await searchInvoices({ ...query, text: ' -./' }, deps, by)).lookedAt).toBe(0);
    keys.destroy('m1');
    expect((await searchInvoices(query, deps, by)).found).toEqual([]);
  });
});

describe('the stream of an id', () => {
  const id = `nfse_${OWN_ID}`;
  const companies = Array.from({ length: 50 }, (_, index) => demoCompany(String(10_000_000_000_000 + index)));
  const lastCnpj = companies.at(-1)?.registration.cnpj ?? '';
  const stream = invoiceStream('test', lastCnpj, OWN_ID);

  const harnessOf50 = () => {
    const harness = createHarness();
    const asked = { rows: 0, reads: 0, reading: 0, most: 0 };
    const whole = harness.deps();
    const deps = {
      readModel: { ...whole.readModel, companies: async () => companies },
      supportReads: {
        ...whole.supportReads,
        invoices: async (streams: readonly StreamName[]) => {
          asked.rows += 1;
          return await harness.rowsOf(streams);
        },
      },
      log: {
        read: async (...call: Parameters<typeof harness.log.read>) => {
          asked.reads += 1;
          asked.reading += 1;
          asked.most = Math.max(asked.most, asked.reading);
          const events = await harness.log.read(...call);
          asked.reading -= 1;
          return events;
        },
      },
    };
    return { ...harness, asked, deps };
  };

  it('is found by one query among the rows of every company, without a read of the log', async () => {
    const { put, deps, asked } = harnessOf50();
    await put(stream, accepted({ mode: 'test', companyId: lastCnpj, invoiceId: OWN_ID }));
    expect(await findStream(id, deps)).toBe(stream);
    expect(asked).toMatchObject({ rows: 1, reads: 0 });
  });

  it('is found in the log when no row has it, by a bounded number of reads at a time', async () => {
    const { put, deps, asked } = harnessOf50();
    await put(stream, accepted({ mode: 'test', companyId: lastCnpj, invoiceId: OWN_ID }));
    const noRows = { ...deps, supportReads: { ...deps.supportReads, invoices: async () => [] } };
    expect(await findStream(id, noRows)).toBe(stream);
    expect(asked).toMatchObject({ reads: 100, most: 16 });
    expect(await findStream('nfse_33333333-3333-4333-8333-333333333333', noRows)).toBeUndefined();
  });

  it('is the name itself when a stream is named', async () => {
    const { deps, asked } = harnessOf50();
    expect(await findStream(stream, deps)).toBe(stream);
    expect(asked).toMatchObject({ rows: 0, reads: 0 });
  });
});

describe('the owner of a DPS id', () => {
  const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const dpsIdOf = (n: number): string => `${DPS_ID.slice(0, 30)}${String(n).padStart(15, '0')}`;
  const allocated = (number: number): DpsNumberEvent => ({
    type: 'DpsNumberAllocated',
    data: { number, nextNumber: number + 1, invoiceId: idOf(number), at: T0 },
  });

  it.each([1, 2, 3, 7, 8, 9, 64, 100])('is found among numbers with a hole and a block: of %i', async (n) => {
    const { put, log } = createHarness();
    const hole: DpsNumberEvent = { type: 'DpsNumberMoved', data: { nextNumber: 7, at: T0 } };
    const block: DpsNumberEvent = {
      type: 'DpsSeriesBlocked',
      data: { nextNumber: 10, number: 9, invoiceId: idOf(9), at: T0 },
    };
    const lifted: DpsNumberEvent = { type: 'DpsNumberMoved', data: { nextNumber: 64, at: T0 } };
    const later = Array.from({ length: 37 }, (_one, index) => allocated(64 + index));
    const events = [...[1, 2, 3].map(allocated), hole, ...[7, 8, 9].map(allocated), block, lifted, ...later];
    await put(dpsStream('live', DEMO_CNPJ, '1'), ...events);
    expect(await invoiceOfDpsId(dpsIdOf(n), log)).toEqual([invoiceStream('live', DEMO_CNPJ, idOf(n))]);
    for (const free of [4, 6, 10, 63, 101]) expect(await invoiceOfDpsId(dpsIdOf(free), log)).toEqual([]);
  });
});
