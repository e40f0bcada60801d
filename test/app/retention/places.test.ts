import { describe, expect, it } from 'vitest';
import { handlers as deadlines } from '../../../projections/deadlines.js';
import { createDrawnPdfs } from '../../../src/app/download/download.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { sealedWith } from '../../../src/app/event-store/sealing.js';
import { createInvoiceReader } from '../../../src/app/read/invoice-reader.js';
import {
  deleteTestInvoice,
  keyGoneAt,
  oldestKeptDay,
  sealingDayOf,
} from '../../../src/app/retention/test-retention.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { accepted, at, attempted, limits, T0 } from '../../support/fixture/invoice.js';
import { appendTo, fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { scriptedReadModel } from '../../support/harness/workers.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { createMemoryGuards } from '../../support/memory/guards.js';

const WEEK = 604_800;
const ID = '11111111-1111-4111-8111-111111111111';

const openHarness = async (event: InvoiceEvent, mode: Mode) => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  const clock = movableClock(T0);
  const stream = invoiceStream(mode, DEMO_CNPJ, ID);
  await appendTo(store, stream, [event], T0);
  const reader = createInvoiceReader({
    store,
    log,
    keys: fixedKeys(),
    clock,
    testRetentionSeconds: WEEK,
    readModel: scriptedReadModel({}).readModel,
  });
  return {
    log,
    clock,
    stream,
    reader,
    read: () => reader.byId({ mode, companyId: DEMO_CNPJ, invoiceId: ID }),
    sweep: () =>
      deleteTestInvoice(stream, {
        store,
        log,
        clock,
        limits,
        actor: 'timer:sweeper',
        ...createMemoryGuards(),
        previousGeneration: { end: async () => undefined },
      }),
  };
};

const imported = (mode: Mode): InvoiceEvent => ({
  type: 'InvoiceImported',
  data: {
    mode,
    companyId: DEMO_CNPJ,
    invoiceId: ID,
    origin: 'legacy',
    state: 'issued',
    amountInCents: 100,
    description: 'Antes',
    importedAt: T0,
  },
});

describe('what a process has in memory', () => {
  it('is a test invoice until its life is over, also when nobody asks for it any more', async () => {
    const { reader, read, clock } = await openHarness(accepted({ mode: 'test' }), 'test');
    expect(await read()).toBeDefined();
    clock.moveTo(at(WEEK - 1));
    expect(reader.evictExpired()).toBe(0);
    clock.moveTo(at(WEEK));
    expect([reader.evictExpired(), reader.evictExpired()]).toEqual([1, 0]);
  });

  it('is the PDF of a test invoice until its life is over, and the PDF of a live one as long as there is room', () => {
    const clock = movableClock(T0);
    const drawn = createDrawnPdfs(clock);
    const modes: readonly Mode[] = ['live', 'test'];
    const ends: Readonly<Record<Mode, Instant | undefined>> = { live: undefined, test: at(WEEK) };
    const streamOf = (mode: Mode) => invoiceStream(mode, DEMO_CNPJ, ID);
    for (const mode of modes) drawn.set(streamOf(mode), { bytes: Buffer.from('%PDF'), hash: 'h', ends: ends[mode] });
    const kept = () => modes.filter((mode) => drawn.get(streamOf(mode)) !== undefined);
    clock.moveTo(at(WEEK - 1));
    expect([drawn.evictExpired(), kept()]).toEqual([0, ['live', 'test']]);
    clock.moveTo(at(WEEK));
    expect([drawn.evictExpired(), kept()]).toEqual([1, ['live']]);
    // One whose drawing ends after the invoice did.
    drawn.set(streamOf('test'), { bytes: Buffer.from('%PDF'), hash: 'h', ends: ends.test });
    expect(kept()).toEqual(['live']);
  });

  it('is a live invoice as long as there is room', async () => {
    const { reader, read, clock } = await openHarness(accepted(), 'live');
    expect(await read()).toBeDefined();
    clock.moveTo(at(WEEK * 100));
    expect(reader.evictExpired()).toBe(0);
  });
});

describe('a test invoice that was imported without the instant of its creation', () => {
  it('lives seven days from its import on, for readers and in the log', async () => {
    const { read, clock, sweep, log, stream } = await openHarness(imported('test'), 'test');
    clock.moveTo(at(WEEK - 1));
    expect(await read()).not.toHaveProperty('facts.createdAt');
    await sweep();
    expect((await log.read(stream)).map(({ type }) => type)).toEqual(['InvoiceImported']);
    clock.moveTo(at(WEEK));
    expect(await read()).toBeUndefined();
    await sweep();
    expect((await log.read(stream)).map(({ type }) => type)).toEqual(['TestInvoiceDeleted']);
  });

  it('is on the sweeper’s list from its import on, and a live one never is', async () => {
    for (const [mode, since] of [
      ['test', T0],
      ['live', null],
    ] as const) {
      const event = { ...imported(mode), stream: invoiceStream(mode, DEMO_CNPJ, ID), revision: 0 };
      if (event.type !== 'InvoiceImported') throw new Error('not an import');
      const row = deadlines.InvoiceImported(undefined, event);
      expect(row === 'delete' ? null : row.retention_since).toBe(since);
    }
  });

  it('is kept permanently in live mode', async () => {
    const { read, clock, sweep } = await openHarness(imported('live'), 'live');
    clock.moveTo(at(WEEK * 100));
    await sweep();
    expect(await read()).toBeDefined();
  });
});

describe('the key of a test invoice', () => {
  it('is that of its first day, whatever is added on a later one', async () => {
    const log = memoryEventLog();
    const dayKeys = {
      forSealing: async (_mode: Mode, _stream: string, of: string) => ({
        generation: `t${of.slice(0, 10)}`,
        key: Buffer.alloc(32),
      }),
      forOpening: async () => Buffer.alloc(32),
    };
    const store = createEventStore(log, dayKeys);
    const stream = invoiceStream('test', DEMO_CNPJ, ID);
    await appendTo(store, stream, [accepted({ mode: 'test' })], T0);
    await appendTo(store, stream, [attempted(1, 86_400 * 5)], at(86_400 * 5));
    const [, later] = await log.read(stream);
    expect(later?.metadata.recordedAt).toBe(at(86_400 * 5));
    expect(sealedWith(String(later?.data.signedDpsGzip))?.generation).toBe('t2026-11-21');
  });
});

describe('the key of a UTC day', () => {
  it('is kept for eight days after that day and not a second more', () => {
    const gone = keyGoneAt('2026-11-21');
    expect(gone).toBe('2026-11-30T00:00:00.000Z');
    expect(oldestKeptDay(addSeconds(gone, -1))).toBe('2026-11-21');
    expect(oldestKeptDay(gone)).toBe('2026-11-22');
  });

  it('outlives each invoice that it sealed', () => {
    expect(keyGoneAt('2026-11-21') > addSeconds('2026-11-21T23:59:59.999Z', WEEK)).toBe(true);
  });

  it('is named by what it sealed, and a master key is none', () => {
    expect(['t2026-11-21.0123456789abcdef', 't2026-11-21', 'm1'].map(sealingDayOf)).toEqual([
      '2026-11-21',
      '2026-11-21',
      undefined,
    ]);
  });
});
