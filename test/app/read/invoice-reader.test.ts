import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { createInvoiceReader } from '../../../src/app/read/invoice-reader.js';
import { loadSealedInvoice } from '../../../src/app/read/read-invoice.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { evolve } from '../../../src/domain/invoice/evolve.js';
import { initialInvoice } from '../../../src/domain/invoice/state.js';
import { invoiceStatus } from '../../../src/domain/invoice/status.js';
import type { ReadModel } from '../../../src/ports/read-model.js';
import { accepted, attempted, authorized, givenInvoice, limits, T0 } from '../../support/fixture/invoice.js';
import { appendTo, fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const address = {
  mode: 'live',
  companyId: '12345678000195',
  invoiceId: '11111111-1111-4111-8111-111111111111',
} as const;
const stream = invoiceStream(address.mode, address.companyId, address.invoiceId);

type Row = Awaited<ReturnType<ReadModel['invoice']>>;

/** A process of the api, another one that writes to the same log, and a projector that moves only when the test says so. */
const readerHarness = () => {
  let log = memoryEventLog();
  const asked = { folds: 0, rows: 0 };
  let row: Row;
  const own = createEventStore(log, fixedKeys());
  const reader = createInvoiceReader({
    log: { lastEvent: (of) => log.lastEvent(of) },
    store: {
      ...own,
      load: (...args) => {
        asked.folds += 1;
        return createEventStore(log, fixedKeys()).load(...args);
      },
    },
    readModel: {
      invoice: async () => {
        asked.rows += 1;
        return row;
      },
    },
    keys: fixedKeys(),
    clock: movableClock(T0),
    testRetentionSeconds: limits.testRetentionSeconds,
  });
  return {
    asked,
    recordElsewhere: (...events: readonly InvoiceEvent[]) =>
      appendTo(createEventStore(log, fixedKeys()), stream, events, T0),
    /** A restore of the log, or a failover, under this process. */
    setLogBack: () => {
      log = memoryEventLog();
    },
    project: (...events: readonly InvoiceEvent[]) => {
      row = { revision: events.length - 1, state: events.reduce(evolve, initialInvoice) };
    },
    /** The row as the projection makes it, with every personal field sealed. */
    projectSealed: async () => {
      const { state, events } = await loadSealedInvoice(stream, own);
      row = { revision: events.length - 1, state };
    },
    invoice: () => reader.byId(address),
    status: async () => {
      const invoice = await reader.byId(address);
      return invoice === undefined ? undefined : invoiceStatus(invoice);
    },
  };
};

describe('an invoice is read', () => {
  it('as another process has just recorded it, although its row is behind', async () => {
    const harness = readerHarness();
    await harness.recordElsewhere(accepted(), attempted(1, 1));
    harness.project(accepted());
    expect(await harness.status()).toBe('processing');
    await harness.recordElsewhere(authorized(1, 2));
    expect(await harness.status()).toBe('issued');
  });

  it('from its row with every personal field opened', async () => {
    const harness = readerHarness();
    // What a client writes may begin as sealed text does.
    const typed = 'sealed:1:t9999-99-99:x';
    const events = [accepted({ reference: typed, description: typed }), attempted(1, 1)];
    await harness.recordElsewhere(...events);
    await harness.projectSealed();
    const invoice = await harness.invoice();
    expect(invoice?.facts).toEqual(givenInvoice(...events).facts);
    expect(invoice?.facts).toMatchObject({ customer: expect.anything(), description: expect.anything() });
    expect(harness.asked).toEqual({ folds: 0, rows: 1 });
  });

  it('although it has no row yet', async () => {
    const harness = readerHarness();
    await harness.recordElsewhere(accepted());
    expect(await harness.status()).toBe('queued');
  });

  it('from its row, without a fold, when that stands where the log does', async () => {
    const harness = readerHarness();
    await harness.recordElsewhere(accepted(), attempted(1, 1));
    harness.project(accepted(), attempted(1, 1));
    expect(await harness.status()).toBe('processing');
    expect(harness.asked).toEqual({ folds: 0, rows: 1 });
  });

  it('from memory, without row or fold, as long as nothing was recorded', async () => {
    const harness = readerHarness();
    await harness.recordElsewhere(accepted());
    for (const _ of [1, 2, 3]) expect(await harness.status()).toBe('queued');
    expect(harness.asked).toEqual({ folds: 1, rows: 1 });
  });

  it('as the log holds it now, when the log was set back and has grown to the same revision', async () => {
    const harness = readerHarness();
    const rejected = { type: 'IssuanceRejected', data: { attempt: 1, codes: ['E0001'], at: T0 } } as const;
    await harness.recordElsewhere(accepted(), attempted(1, 1), rejected);
    expect(await harness.status()).toBe('failed');
    harness.setLogBack();
    await harness.recordElsewhere(accepted(), attempted(1, 1));
    expect(await harness.status()).toBe('processing');
    await harness.recordElsewhere(authorized(1, 2));
    expect(await harness.status()).toBe('issued');
  });

  it('from the log when its row is ahead of what the log said', async () => {
    const harness = readerHarness();
    await harness.recordElsewhere(accepted());
    harness.project(accepted(), attempted(1, 1));
    expect(await harness.status()).toBe('queued');
    expect(harness.asked).toEqual({ folds: 1, rows: 1 });
  });

  it('as none when the log has none, without looking any further', async () => {
    const harness = readerHarness();
    expect(await harness.status()).toBeUndefined();
    expect(harness.asked).toEqual({ folds: 0, rows: 0 });
  });
});
