import { describe, expect, it } from 'vitest';
import type { RecoveryDeps } from '../../../src/app/recovery/ask-series.js';
import { type ComparedSeries, compareRestoredLog } from '../../../src/app/recovery/recover-log.js';
import { logRecoveryChecks } from '../../../src/cli/commands/recovery-checks.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { DAY_SECONDS } from '../../../src/domain/common/time.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { accepted, at, attempted, conflictFound, interrupted } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const dpsOf = (number: number) => dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number });

/** The sale of another customer, invoice 8, got the number 3 of a lost note: the series has stopped, and its next number is 4. */
const stopSeries = async ({ deps, stop }: RecoveryHarness, when: string): Promise<void> => {
  await stop(8, 3, when);
  const { type, data } = attempted(1, 25);
  const sent = { type, data: { ...data, number: 3, dpsId: dpsOf(3) } };
  const sale = { mode: 'live', invoiceId: idOf(8), amountInCents: 990_000, reference: 'pedido-8' } as const;
  const events = [accepted({ ...sale, acceptedAt: when }), sent, conflictFound(1, 26), interrupted];
  await appendTo(deps.store, invoiceStream('live', DEMO_CNPJ, idOf(8)), events, when);
};

const comparedLive = async (deps: RecoveryDeps): Promise<ComparedSeries | undefined> => {
  const report = await compareRestoredLog(deps, true);
  if ('refused' in report) throw new Error(report.refused);
  expect(report.isDone).toBe(true);
  return report.series.find(({ mode }) => mode === 'live');
};

/** The line of `doctor --reconcile`. */
const lineOf = (compared: ComparedSeries | undefined): string => {
  const series = compared === undefined ? [] : [compared];
  const nothing = { skipped: [], unknown: [], doubtful: [], unproven: [] };
  const [line] = logRecoveryChecks({ kind: 'compared', isDone: true, resumed: true, series, ...nothing });
  return line?.detail ?? '';
};

describe('the stop of a series that a foreign note has caused', () => {
  it('is lifted by a comparison that has found that note, also where the next number is past it', async () => {
    const harness = await recoveryHarness();
    harness.register(7, 3);
    await stopSeries(harness, at(19));
    const compared = await comparedLive(harness.deps);
    expect(compared).toMatchObject({ found: 1, movedTo: 4, stop: 'lifted' });
    expect(lineOf(compared)).toContain(', the series is not stopped any more: the next number is 4');
    expect(await harness.lastNumber()).toMatchObject({ type: 'DpsNumberMoved', data: { nextNumber: 4 } });
    expect(await comparedLive(harness.deps)).not.toHaveProperty('stop');
  });

  it('is lifted where the series moves past later notes', async () => {
    const harness = await recoveryHarness();
    harness.register(7, 3);
    harness.register(9, 5);
    await stopSeries(harness, at(19));
    expect(await comparedLive(harness.deps)).toMatchObject({ found: 2, movedTo: 6, stop: 'lifted' });
  });

  it.each<[what: string, when: string]>([
    ['asked for its number and found nothing', at(19)],
    ['did not ask for its number', at(-3_600 - 7 * DAY_SECONDS - 1)],
  ])('stays after a comparison that %s', async (what, when) => {
    const harness = await recoveryHarness();
    if (what.startsWith('did not')) harness.register(7, 3);
    await stopSeries(harness, when);
    const compared = await comparedLive(harness.deps);
    expect(compared).toMatchObject({ found: 0, stop: 'stays' });
    expect(compared).not.toHaveProperty('movedTo');
    expect(lineOf(compared)).toContain('the series stays stopped, ');
    expect(await harness.lastNumber()).toMatchObject({ type: 'DpsSeriesBlocked' });
  });

  it('stays while another look-up of the series proves nothing', async () => {
    const harness = await recoveryHarness();
    harness.register(7, 3);
    const other = { mode: 'live', invoiceId: idOf(9), reference: 'pedido-9', acceptedAt: at(18) } as const;
    const { type, data } = attempted(1, 25);
    const sent = { type, data: { ...data, number: 2, dpsId: dpsOf(2) } };
    await harness.numbers('live', {
      type: 'DpsNumberAllocated',
      data: { invoiceId: idOf(9), number: 2, nextNumber: 3, at: at(18) },
    });
    const stream = invoiceStream('live', DEMO_CNPJ, idOf(9));
    await appendTo(harness.deps.store, stream, [accepted(other), sent, interrupted], at(18));
    await stopSeries(harness, at(19));
    const { authorizer } = harness.deps;
    const findByDps: typeof authorizer.findByDps = async (caller, id) =>
      caller.mode === 'live' && id === dpsOf(2)
        ? { kind: 'inconclusive', reason: 'unreadable' }
        : authorizer.findByDps(caller, id);
    const deps = { ...harness.deps, authorizer: { ...authorizer, findByDps } };
    expect(await comparedLive(deps)).toMatchObject({ found: 1, stop: 'stays' });
    expect(await comparedLive(harness.deps)).toMatchObject({ movedTo: 4, stop: 'lifted' });
  });
});
