import { describe, expect, it } from 'vitest';
import { compareRestoredLog } from '../../../src/app/recovery/recover-log.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { at, attempted, imported, interrupted, T0 } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, recoveryHarness } from '../../support/harness/recovery.js';

const allocated = (number: number, n: number) =>
  ({ type: 'DpsNumberAllocated', data: { number, nextNumber: number + 1, invoiceId: idOf(n), at: T0 } }) as const;

describe('a log that was put back', () => {
  it('is done when the authorizer holds nothing behind it, and not before each number was absent twice', async () => {
    const { deps, clock, ledgers, lastNumber } = await recoveryHarness();
    const done = await compareRestoredLog(deps, false);
    expect(done).toMatchObject({ isDone: true, unknown: [], unproven: [], skipped: [] });
    expect(done.series).toEqual(
      ['live', 'test'].map((mode) => ({ mode, companyId: DEMO_CNPJ, series: '1', found: 0, adopted: 0 })),
    );
    for (const { calls } of Object.values(ledgers)) expect(calls).toHaveLength(2 * 5);
    expect(clock.now()).toBe(at(60));
    expect(await lastNumber()).toBeUndefined();
  });

  it('gives a note back to the open invoice that was sent under it, and goes on behind its number', async () => {
    const { deps, accept, numbers, register, lastNumber, status } = await recoveryHarness();
    await numbers('live', allocated(1, 9));
    const first = await accept(1);
    const second = await accept(2);
    // The invoices were numbered in another order than a second run would give.
    const notes = [register(2, 2), register(1, 3)];
    const done = await compareRestoredLog(deps, false);
    expect(done).toMatchObject({ isDone: true, unknown: [] });
    expect(done.series[0]).toEqual({
      ...{ mode: 'live', companyId: DEMO_CNPJ, series: '1', found: 2, adopted: 2, movedTo: 4 },
    });
    for (const stream of [first, second]) expect(await status(stream)).toBe('issued');
    const { events } = await deps.store.load(second);
    expect(events.at(-1)).toMatchObject({
      type: 'Authorized',
      data: { attempt: 1, attemptLost: true, accessKey: notes[0]?.accessKey, evidence: 'lookup' },
      metadata: { actor: 'support:maria' },
    });
    expect(await lastNumber()).toMatchObject({ type: 'DpsNumberMoved', data: { nextNumber: 4 } });
    expect(await compareRestoredLog(deps, false)).toMatchObject({ isDone: true, unknown: [] });
  });

  it('finds a note under a number that was taken before the end of the log, for an invoice without an attempt', async () => {
    const { deps, accept, numbers, register, status } = await recoveryHarness();
    await numbers('live', allocated(1, 1), allocated(2, 2));
    const stream = await accept(1);
    register(1, 1);
    const done = await compareRestoredLog(deps, false);
    expect(done.series[0]).toMatchObject({ found: 1, adopted: 1 });
    expect(done.series[0]).not.toHaveProperty('movedTo');
    expect(await status(stream)).toBe('issued');
  });

  it('leaves an attempt that the log knows to its own protocol', async () => {
    const { deps, accept, numbers, register, status } = await recoveryHarness();
    const note = register(1, 1);
    await numbers('live', allocated(1, 1));
    const attempt = attempted(1, 10, note.digest);
    if (attempt.type !== 'IssuanceAttempted') throw new Error('not an attempt');
    const data = { ...attempt.data, number: 1, dpsId: note.dpsId };
    const stream = await accept(1, 'live', { ...attempt, data });
    expect(await compareRestoredLog(deps, false)).toMatchObject({ isDone: true, unknown: [] });
    expect(await status(stream)).toBe('open');
  });

  it('is not done over a live note that no invoice accounts for, and moves no number for it', async () => {
    const harness = await recoveryHarness({
      byAccessKeys: async ([accessKey = '']) => [{ accessKey, stream: `nfseLive-${DEMO_CNPJ}_${idOf(7)}` }],
    });
    const { deps, register, lastNumber } = harness;
    const note = register(7, 3);
    for (const _again of [1, 2]) {
      expect(await compareRestoredLog(deps, false)).toMatchObject({
        isDone: false,
        unknown: [{ mode: 'live', number: 3, accessKey: note.accessKey, amount: '1500.00', once: `nfse_${idOf(7)}` }],
      });
      expect(await lastNumber()).toBeUndefined();
    }
    const accepted = await compareRestoredLog(deps, true);
    expect(accepted).toMatchObject({ isDone: true, unknown: [{ accessKey: note.accessKey }] });
    expect(await lastNumber()).toMatchObject({ data: { nextNumber: 4 } });
  });

  it('is done once that note was taken over', async () => {
    const { deps, register, lastNumber } = await recoveryHarness();
    const { accessKey } = register(7, 3);
    const stream = invoiceStream('live', DEMO_CNPJ, idOf(8));
    await appendTo(deps.store, stream, [imported({ mode: 'live', invoiceId: idOf(8), accessKey })], T0);
    expect(await compareRestoredLog(deps, false)).toMatchObject({ isDone: true, unknown: [] });
    expect(await lastNumber()).toMatchObject({ data: { nextNumber: 4 } });
  });

  it('reports an unknown note of test mode, which is no fiscal document, and ends', async () => {
    const { deps, register, lastNumber } = await recoveryHarness();
    register(7, 2, 'test');
    expect(await compareRestoredLog(deps, false)).toMatchObject({
      isDone: true,
      unknown: [{ mode: 'test', number: 2 }],
    });
    expect(await lastNumber('test')).toMatchObject({ data: { nextNumber: 3 } });
  });

  it('proves nothing while the authorizer is out of reach, and records nothing', async () => {
    const { deps, ledgers, accept, register, lastNumber, status } = await recoveryHarness();
    const stream = await accept(1);
    register(1, 1);
    for (const ledger of Object.values(ledgers)) ledger.mute = true;
    expect(await compareRestoredLog(deps, true)).toMatchObject({
      isDone: false,
      unproven: [{ companyId: DEMO_CNPJ, mode: 'live', why: 'html' }, { mode: 'test' }],
    });
    expect(await status(stream)).toBe('open');
    expect(await lastNumber()).toBeUndefined();
  });

  it('finds a note that was hidden from the first look, and one behind it', async () => {
    const harness = await recoveryHarness();
    const { deps, ledgers, accept, register, status, clock } = harness;
    const streams = [await accept(1), await accept(2)];
    const late = [() => register(1, 4), () => register(2, 8)];
    const waitUntil = async (until: string): Promise<void> => {
      clock.moveTo(until);
      for (const arrive of late.splice(0)) arrive();
    };
    const done = await compareRestoredLog({ ...deps, waitUntil }, false);
    expect(done.series[0]).toMatchObject({ found: 2, adopted: 2, movedTo: 9 });
    for (const stream of streams) expect(await status(stream)).toBe('issued');
    expect(ledgers.live.notes).toHaveLength(2);
  });

  it('skips a company that cannot issue, and a mode whose simulator has no ledger here', async () => {
    const { deps, ledgers } = await recoveryHarness({ municipalityOf: () => undefined });
    expect(await compareRestoredLog(deps, false)).toMatchObject({
      ...{ isDone: true, series: [], skipped: [{ companyId: DEMO_CNPJ, why: expect.stringContaining('city') }] },
    });
    const modesWithoutLedger = ['live', 'test'] as const;
    const municipalityOf = (): string => '3304557';
    expect(await compareRestoredLog({ ...deps, municipalityOf, modesWithoutLedger }, false)).toMatchObject({
      ...{ isDone: true, series: [], skipped: [{ mode: 'live' }, { mode: 'test' }] },
    });
    for (const { calls } of Object.values(ledgers)) expect(calls).toEqual([]);
  });

  it('gives nothing to an invoice that has an outcome, which never changes by itself', async () => {
    const { deps, accept, register, status } = await recoveryHarness();
    const stream = await accept(1, 'live', attempted(1, 10), interrupted);
    register(1, 1);
    expect(await compareRestoredLog(deps, false)).toMatchObject({ isDone: false, unknown: [{ number: 1 }] });
    expect(await status(stream)).toBe('indeterminate');
  });
});
