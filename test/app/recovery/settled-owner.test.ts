import { expect, it } from 'vitest';
import { compareRestoredLog } from '../../../src/app/recovery/recover-log.js';
import { DAY_SECONDS } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import {
  at,
  attempted,
  authorized,
  cancelConfirmed,
  cancelRequested,
  interrupted,
  limits,
  rejected,
} from '../../support/fixture/invoice.js';
import { idOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const ownersIn = async ({ deps }: RecoveryHarness): Promise<unknown> => {
  const report = await compareRestoredLog(deps, false);
  if ('refused' in report) throw new Error(report.refused);
  expect(report.isDone).toBe(false);
  return report.unknown.map(({ number, owner }) => ({ number, owner }));
};

it.each<[status: string, ...events: InvoiceEvent[]]>([
  ['issued', attempted(1, 5), authorized(1, 6)],
  ['canceled', attempted(1, 5), authorized(1, 6), cancelRequested(300), cancelConfirmed(306)],
  ['failed', attempted(1, 5), rejected(1, 6)],
  ['indeterminate', attempted(1, 5), interrupted],
])('a note of an invoice that is %s names that invoice, in every run', async (status, ...events) => {
  const harness = await recoveryHarness();
  await harness.accept(1, 'live', ...events);
  // Of the same amount and instant: only content and digest tell it apart.
  await harness.accept(2, 'live', ...events);
  harness.register(1, 3);
  for (const _run of [1, 2])
    expect(await ownersIn(harness)).toEqual([{ number: 3, owner: { id: `nfse_${idOf(1)}`, status } }]);
});

it('a note of an invoice that the log does not have names no invoice', async () => {
  const harness = await recoveryHarness();
  await harness.accept(2, 'live', attempted(1, 5), authorized(1, 6));
  await harness.accept(1, 'test', attempted(1, 5), authorized(1, 6));
  harness.register(1, 3);
  expect(await ownersIn(harness)).toEqual([{ number: 3, owner: undefined }]);
});

it('only invoices that were accepted about the time of a note are read for it', async () => {
  const harness = await recoveryHarness();
  await harness.accept(1, 'live', attempted(1, 5), authorized(1, 6));
  const note = harness.register(1, 3);
  const days = limits.queuedSeconds + limits.processingSeconds + 2 * DAY_SECONDS;
  Object.assign(note, { authorizedAt: at(days) });
  expect(await ownersIn(harness)).toEqual([{ number: 3, owner: undefined }]);
});
