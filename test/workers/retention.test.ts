import { describe, expect, it } from 'vitest';
import { invoiceIdOfReference } from '../../src/app/event-store/hashes.js';
import { createInvoiceReader } from '../../src/app/read/invoice-reader.js';
import { invoiceStream, type Mode } from '../../src/domain/common/ids.js';
import { type Sweeper, sweep } from '../../src/workers/sweeper.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { accepted, at, limits } from '../support/fixture/invoice.js';
import { acceptHarness, codeOf, idOf } from '../support/harness/accept.js';
import { fixedKeys } from '../support/harness/event-store.js';
import { type IssuingHarness, issuingHarness } from '../support/harness/issuing.js';
import { scriptedReadModel } from '../support/harness/workers.js';
import { createMemoryGuards } from '../support/memory/guards.js';
import { verifyChain } from '../support/verify-chain.js';

const WEEK = 604_800;

const sweeperOf = ({ log, stream, deps }: Pick<IssuingHarness, 'log' | 'stream' | 'deps'>): Sweeper => ({
  log,
  deps,
  queue: undefined,
  cuts: createMemoryGuards().cuts,
  previousGeneration: { end: async () => undefined },
  readModel: scriptedReadModel({ expired: [stream] }).readModel,
  inTrace: (_stream, conclude) => conclude(),
  onFault: (_stream, error) => {
    throw error;
  },
});

const typesIn = async ({ log, stream }: IssuingHarness): Promise<readonly string[]> =>
  (await log.read(stream)).map(({ type }) => type);

const readerOf = ({ store, log, clock }: Pick<IssuingHarness, 'store' | 'log' | 'clock'>) =>
  createInvoiceReader({
    store,
    log,
    keys: fixedKeys(),
    clock,
    testRetentionSeconds: limits.testRetentionSeconds,
    readModel: scriptedReadModel({}).readModel,
  });

describe('the life of a test invoice', () => {
  it('ends after seven days with one event that stays, bound to what was cut', async () => {
    const harness = await issuingHarness('test');
    await harness.issueToTheEnd();
    const last = (await harness.log.read(harness.stream)).at(-1);
    harness.clock.moveTo(at(WEEK));
    await sweep(sweeperOf(harness), 1);
    await sweep(sweeperOf(harness), 2);
    const [end, ...others] = await harness.log.read(harness.stream);
    expect(others).toEqual([]);
    expect(end).toMatchObject({
      type: 'TestInvoiceDeleted',
      revision: (last?.revision ?? 0) + 1,
      data: { lastHash: last?.metadata.hash, deletedAt: at(WEEK) },
    });
    expect(end?.metadata.prevHash).toBe(last?.metadata.hash);
    expect((await verifyChain(harness.log, ['nfse'])).findings).toEqual([]);
  });

  it('does not end a second early, and a live invoice never ends', async () => {
    const test = await issuingHarness('test');
    test.clock.moveTo(at(WEEK - 1));
    await sweep(sweeperOf(test), 1);
    expect(await typesIn(test)).toEqual(['InvoiceAccepted']);
    const live = await issuingHarness('live');
    live.clock.moveTo(at(WEEK * 100));
    await sweep(sweeperOf(live), 1);
    expect(await typesIn(live)).toEqual(['InvoiceAccepted']);
  });

  it('is cut by the next sweep when the process died before the cut', async () => {
    const harness = await issuingHarness('test');
    harness.clock.moveTo(at(WEEK));
    const dying: Sweeper = {
      ...sweeperOf(harness),
      log: { ...harness.log, cut: () => Promise.reject(new Error('died')) },
      onFault: () => undefined,
    };
    await sweep(dying, 1);
    expect(await typesIn(harness)).toEqual(['InvoiceAccepted', 'TestInvoiceDeleted']);
    await sweep(sweeperOf(harness), 2);
    expect(await typesIn(harness)).toEqual(['TestInvoiceDeleted']);
  });

  it('is over for readers at the instant, before and after the sweep', async () => {
    const harness = await issuingHarness('test');
    const address = { mode: 'test' as Mode, companyId: DEMO_CNPJ, invoiceId: accepted1Id };
    const reader = readerOf(harness);
    harness.clock.moveTo(at(WEEK - 1));
    expect(await reader.byId(address)).toBeDefined();
    harness.clock.moveTo(at(WEEK));
    expect(await reader.byId(address)).toBeUndefined();
    await sweep(sweeperOf(harness), 1);
    expect(await reader.byId(address)).toBeUndefined();
  });

  it('leaves nothing for the issuer to do', async () => {
    const harness = await issuingHarness('test');
    harness.clock.moveTo(at(WEEK));
    await sweep(sweeperOf(harness), 1);
    expect(await harness.issue()).toEqual({ kind: 'done' });
    expect(await harness.cancel()).toEqual({ kind: 'done' });
    expect(harness.authorizer.calls).toEqual([]);
  });

  it('forgets what the look-ups said', async () => {
    const harness = await issuingHarness('test');
    await harness.deps.lookups.put(harness.stream, 'issue/1', { asked: 1, lastAskedAt: at(0) });
    harness.clock.moveTo(at(WEEK));
    await sweep(sweeperOf(harness), 1);
    expect(await harness.deps.lookups.get(harness.stream, 'issue/1')).toBeUndefined();
  });

  it('leaves its reference taken permanently', async () => {
    const harness = acceptHarness();
    const { deps } = await issuingHarness('test');
    const by = { mode: 'test' as const };
    const id = idOf(await harness.post({ reference: 'r' }, undefined, by));
    expect(id).toBe(invoiceIdOfReference('test', DEMO_CNPJ, 'r'));
    harness.clock.moveTo(at(WEEK));
    const { log, clock } = harness;
    const { store } = harness.deps;
    const stream = invoiceStream('test', DEMO_CNPJ, id);
    await sweep(sweeperOf({ log, stream, deps: { ...deps, store, clock } }), 1);
    expect((await log.read(stream)).map(({ type }) => type)).toEqual(['TestInvoiceDeleted']);
    expect(codeOf(await harness.post({ reference: 'r' }, undefined, by))).toBe('nfse.reference_in_use');
    expect(
      await readerOf({ store, log, clock }).byReference({ mode: 'test', companyId: DEMO_CNPJ }, 'r'),
    ).toBeUndefined();
    expect((await log.read(stream)).map(({ type }) => type)).toEqual(['TestInvoiceDeleted']);
  });

  it('does not end while the process stops, unless its end has begun', async () => {
    const harness = acceptHarness();
    const { deps } = await issuingHarness('test');
    const by = { mode: 'test' as const };
    const streams: string[] = [];
    for (const reference of ['under way', 'next']) {
      streams.push(
        invoiceStream('test', DEMO_CNPJ, idOf(await harness.post({ reference }, `key of ${reference}`, by))),
      );
    }
    const [underWay = '', next = ''] = streams;
    harness.clock.moveTo(at(WEEK));
    const { log, clock } = harness;
    const stop = new AbortController();
    const stopping: Sweeper = {
      ...sweeperOf({ log, stream: underWay, deps: { ...deps, store: harness.deps.store, clock } }),
      log: {
        ...log,
        cut: async (...args) => {
          stop.abort();
          await log.cut(...args);
        },
      },
      readModel: scriptedReadModel({ expired: streams }).readModel,
    };
    await sweep(stopping, 1, stop.signal);
    const typesOf = async (stream: string) => (await log.read(stream)).map(({ type }) => type);
    expect(await typesOf(underWay)).toEqual(['TestInvoiceDeleted']);
    expect(await typesOf(next)).toEqual(['InvoiceAccepted']);
  });

  it('is cut by the next sweep when the one that ended it died before the cut', async () => {
    const harness = await issuingHarness('test');
    await harness.issueToTheEnd();
    harness.clock.moveTo(at(WEEK));
    const { cuts } = createMemoryGuards();
    const dying = { ...harness.log, cut: () => Promise.reject(new Error('the process died')) };
    await expect(sweep({ ...sweeperOf(harness), cuts, log: dying }, 1)).rejects.toThrow('the process died');
    expect((await typesIn(harness)).length).toBeGreaterThan(1);
    await sweep({ ...sweeperOf(harness), cuts, readModel: scriptedReadModel({}).readModel }, 2);
    expect(await typesIn(harness)).toEqual(['TestInvoiceDeleted']);
    expect(await cuts.list(10)).toEqual([]);
  });
});

const acceptance = accepted();
const accepted1Id = acceptance.type === 'InvoiceAccepted' ? acceptance.data.invoiceId : '';
