import { expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { companyUsage } from '../../../src/app/operator/company-usage.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { DEMO_CNPJ, OTHER_CNPJ } from '../../support/fixture/demo.js';
import {
  ACCESS_KEY,
  accepted,
  attempted,
  authorized,
  authorizedData,
  cancelConfirmed,
  cancelRequested,
  imported,
  interrupted,
  rejected,
} from '../../support/fixture/invoice.js';
import { appendTo, fixedKeys } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const NONE = { accepted: 0, issued: 0, failed: 0, canceled: 0 };

const createHarness = () => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  let n = 0;
  const invoice = async (mode: Mode, first: (id: string) => InvoiceEvent, ...more: InvoiceEvent[]): Promise<void> => {
    n += 1;
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    await appendTo(store, invoiceStream(mode, DEMO_CNPJ, id), [first(id), ...more], '2026-11-21T12:00:00.000Z');
  };
  const acceptedAt = (mode: Mode, at: string) => (invoiceId: string) => accepted({ mode, invoiceId, acceptedAt: at });
  return { log, invoice, acceptedAt };
};

const at = '2026-11-21T12:00:00.000Z';

it('counts what happened in the month, live and test apart, and nothing of another company', async () => {
  const { log, invoice, acceptedAt } = createHarness();
  const issued = [attempted(1, 1), authorized(1, 2)];
  await invoice('live', acceptedAt('live', at), ...issued, cancelRequested(10), cancelConfirmed(20));
  await invoice('live', acceptedAt('live', at), attempted(1, 1), rejected(1, 2));
  await invoice('live', acceptedAt('live', at), attempted(1, 1), interrupted);
  await invoice('test', acceptedAt('test', at), ...issued);
  await invoice('live', (invoiceId) => imported({ mode: 'live', invoiceId, accessKey: ACCESS_KEY }));
  expect(await companyUsage(log, DEMO_CNPJ, '2026-11')).toEqual({
    live: { accepted: 3, issued: 1, failed: 1, canceled: 1 },
    test: { accepted: 1, issued: 1, failed: 0, canceled: 0 },
  });
  expect(await companyUsage(log, OTHER_CNPJ, '2026-11')).toEqual({ live: NONE, test: NONE });
});

it('counts what support settled as what it became', async () => {
  const { log, invoice, acceptedAt } = createHarness();
  const { attempt: _attempt, evidence: _evidence, ...note } = authorizedData(1, 2);
  await invoice('live', acceptedAt('live', at), attempted(1, 1), interrupted, {
    type: 'IndeterminateResolved',
    data: { as: 'issued', ...note, evidence: 'portal' },
  });
  await invoice('live', acceptedAt('live', at), attempted(1, 1), interrupted, {
    type: 'IndeterminateResolved',
    data: { as: 'failed', evidence: 'portal', at },
  });
  expect((await companyUsage(log, DEMO_CNPJ, '2026-11')).live).toEqual({ ...NONE, accepted: 2, issued: 1, failed: 1 });
});

it('counts nothing of an imported invoice, also when it is canceled here or elsewhere', async () => {
  const { log, invoice } = createHarness();
  const importedIn = (mode: Mode) => (invoiceId: string) => imported({ mode, invoiceId, accessKey: ACCESS_KEY });
  await invoice('live', importedIn('live'), cancelRequested(10), cancelConfirmed(20));
  const elsewhere = { accessKey: ACCESS_KEY, eventType: '305101' as const, eventXmlGzip: '', eventSha256: '' };
  const canceled = { type: 'NoteCanceledElsewhere' as const, data: { ...elsewhere, canceledAt: at, at } };
  await invoice('live', importedIn('live'), canceled);
  await invoice('test', importedIn('test'), cancelRequested(10), cancelConfirmed(20));
  expect(await companyUsage(log, DEMO_CNPJ, '2026-11')).toEqual({ live: NONE, test: NONE });
});

it("a month is the calendar's of Brasília", async () => {
  const { log, invoice, acceptedAt } = createHarness();
  await invoice('live', acceptedAt('live', '2026-12-01T02:59:59.000Z'));
  await invoice('live', acceptedAt('live', '2026-12-01T03:00:00.000Z'));
  expect((await companyUsage(log, DEMO_CNPJ, '2026-11')).live.accepted).toBe(1);
  expect((await companyUsage(log, DEMO_CNPJ, '2026-12')).live.accepted).toBe(1);
});
