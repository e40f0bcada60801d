import { describe, expect, it } from 'vitest';
import type { RecoveryDeps, StartingPoint } from '../../../src/app/recovery/ask-series.js';
import { compareRestoredLog, type RecoveryReport } from '../../../src/app/recovery/recover-log.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { companyStream, invoiceStream, modes } from '../../../src/domain/common/ids.js';
import { DEMO_CNPJ, demoCompany, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { at, attempted, imported, interrupted, T0 } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, recoveryHarness } from '../../support/harness/recovery.js';

const RIO = '3304557';
const NITEROI = '3303302';

const allocated = (number: number, n: number) =>
  ({ type: 'DpsNumberAllocated', data: { number, nextNumber: number + 1, invoiceId: idOf(n), at: T0 } }) as const;

const compare = async (deps: RecoveryDeps, acceptUnknown: boolean): Promise<RecoveryReport> => {
  const report = await compareRestoredLog(deps, acceptUnknown);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

describe('a log that was put back', () => {
  it('is done when the authorizer holds nothing behind it, and not before each number was absent twice', async () => {
    const { deps, clock, ledgers, lastNumber } = await recoveryHarness();
    const done = await compare(deps, false);
    expect(done).toMatchObject({ isDone: true, unknown: [], unproven: [], skipped: [] });
    expect(done.series).toEqual(
      ['live', 'test'].map((mode) => ({
        mode,
        companyId: DEMO_CNPJ,
        municipality: RIO,
        series: '1',
        walked: [{ from: 1, to: 5 }],
        found: 0,
        adopted: 0,
      })),
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
    const done = await compare(deps, false);
    expect(done).toMatchObject({ isDone: true, unknown: [] });
    expect(done.series[0]).toEqual({
      mode: 'live',
      companyId: DEMO_CNPJ,
      municipality: RIO,
      series: '1',
      walked: [{ from: 1, to: 8 }],
      found: 2,
      adopted: 2,
      movedTo: 4,
    });
    for (const stream of [first, second]) expect(await status(stream)).toBe('issued');
    const { events } = await deps.store.load(second);
    expect(events.at(-1)).toMatchObject({
      type: 'Authorized',
      data: { attempt: 1, attemptLost: true, accessKey: notes[0]?.accessKey, evidence: 'lookup' },
      metadata: { actor: 'support:maria' },
    });
    expect(await lastNumber()).toMatchObject({ type: 'DpsNumberMoved', data: { nextNumber: 4 } });
    expect(await compare(deps, false)).toMatchObject({ isDone: true, unknown: [] });
  });

  it('finds a note under a number that was taken before the end of the log, for an invoice without an attempt', async () => {
    const { deps, accept, numbers, register, status } = await recoveryHarness();
    await numbers('live', allocated(1, 1), allocated(2, 2));
    const stream = await accept(1);
    register(1, 1);
    const done = await compare(deps, false);
    expect(done.series[0]).toMatchObject({ found: 1, adopted: 1 });
    expect(done.series[0]).not.toHaveProperty('movedTo');
    expect(await status(stream)).toBe('issued');
  });

  it.each([
    ['', {}],
    [', also when the note cannot be made of its DPS', { misfit: true as const }],
  ])('leaves an attempt that the log knows to its own protocol%s', async (_also, doubt) => {
    const { deps, accept, numbers, register, status } = await recoveryHarness();
    const note = Object.assign(register(1, 1), doubt);
    await numbers('live', allocated(1, 1));
    const attempt = attempted(1, 10, note.digest);
    if (attempt.type !== 'IssuanceAttempted') throw new Error('not an attempt');
    const data = { ...attempt.data, number: 1, dpsId: note.dpsId };
    const stream = await accept(1, 'live', { ...attempt, data });
    expect(await compare(deps, false)).toMatchObject({ isDone: true, unknown: [] });
    expect(await status(stream)).toBe('open');
  });

  it('is not done over a live note that no invoice accounts for, and moves no number for it', async () => {
    const harness = await recoveryHarness({
      byAccessKeys: async ([accessKey = '']) => [{ accessKey, stream: `nfseLive-${DEMO_CNPJ}_${idOf(7)}` }],
    });
    const { deps, register, lastNumber } = harness;
    const note = register(7, 3);
    for (const _again of [1, 2]) {
      expect(await compare(deps, false)).toMatchObject({
        isDone: false,
        unknown: [{ mode: 'live', number: 3, accessKey: note.accessKey, amount: '1500.00', once: `nfse_${idOf(7)}` }],
      });
      expect(await lastNumber()).toBeUndefined();
    }
    const accepted = await compare(deps, true);
    expect(accepted).toMatchObject({ isDone: true, unknown: [{ accessKey: note.accessKey }] });
    expect(await lastNumber()).toMatchObject({ data: { nextNumber: 4 } });
  });

  it('is not done over a second live note of one open invoice, which takes the first', async () => {
    const { deps, accept, register, lastNumber, status } = await recoveryHarness();
    const stream = await accept(1);
    register(1, 1);
    const { accessKey } = register(1, 3);
    const done = await compare(deps, false);
    const owner = { id: `nfse_${idOf(1)}`, status: 'issued' };
    const unknown = [expect.objectContaining({ number: 3, accessKey, owner })];
    expect(done).toMatchObject({ isDone: false, unknown });
    // The invoice is not open any more.
    expect(await compare(deps, false)).toMatchObject({ isDone: false, unknown });
    expect(done.series[0]).toMatchObject({ found: 2, adopted: 1 });
    expect(await status(stream)).toBe('issued');
    expect(await lastNumber()).toBeUndefined();
    expect(await compare(deps, true)).toMatchObject({ isDone: true, unknown: [{ number: 3, accessKey }] });
    expect(await lastNumber()).toMatchObject({ data: { nextNumber: 4 } });
  });

  it('is done once that note was taken over', async () => {
    const { deps, register, lastNumber } = await recoveryHarness();
    const { accessKey } = register(7, 3);
    const stream = invoiceStream('live', DEMO_CNPJ, idOf(8));
    await appendTo(
      deps.store,
      stream,
      [imported({ mode: 'live', invoiceId: idOf(8), accessKey, amountInCents: 150_000 })],
      T0,
    );
    expect(await compare(deps, false)).toMatchObject({ isDone: true, unknown: [] });
    expect(await lastNumber()).toMatchObject({ data: { nextNumber: 4 } });
  });

  it('reports an unknown note of test mode, which is no fiscal document, and ends', async () => {
    const { deps, register, lastNumber } = await recoveryHarness();
    register(7, 2, 'test');
    expect(await compare(deps, false)).toMatchObject({
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
    expect(await compare(deps, true)).toMatchObject({
      isDone: false,
      unproven: [{ companyId: DEMO_CNPJ, mode: 'live', why: 'html' }, { mode: 'test' }],
    });
    expect(await status(stream)).toBe('open');
    expect(await lastNumber()).toBeUndefined();
  });

  it('says that the certificate is refused where asking again would change nothing', async () => {
    const { deps } = await recoveryHarness();
    const findByDps: RecoveryDeps['authorizer']['findByDps'] = async ({ mode }) =>
      mode === 'live'
        ? { kind: 'inconclusive', reason: 'status_403', certificateRefused: true }
        : { kind: 'inconclusive', reason: 'ECONNREFUSED' };
    const { unproven } = await compare({ ...deps, authorizer: { ...deps.authorizer, findByDps } }, true);
    const id = dpsId({ municipality: RIO, cnpj: DEMO_CNPJ, series: '1', number: 1 });
    const first = { companyId: DEMO_CNPJ, series: '1', number: 1, dpsId: id };
    expect(unproven).toEqual([
      { mode: 'live', why: 'status_403', certificateRefused: true, ...first },
      { mode: 'test', why: 'ECONNREFUSED', ...first },
    ]);
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
    const done = await compare({ ...deps, waitUntil }, false);
    expect(done.series[0]).toMatchObject({ found: 2, adopted: 2, movedTo: 9 });
    for (const stream of streams) expect(await status(stream)).toBe('issued');
    expect(ledgers.live.notes).toHaveLength(2);
  });

  it('is not done before the number behind a late note was absent twice too', async () => {
    const harness = await recoveryHarness();
    const { deps, accept, register, status, clock } = harness;
    const streams = [await accept(1), await accept(2)];
    const late = [() => register(1, 4), () => register(2, 8)];
    const waitUntil = async (until: string): Promise<void> => {
      clock.moveTo(until);
      late.shift()?.();
    };
    const done = await compare({ ...deps, waitUntil }, false);
    expect(done.series[0]).toMatchObject({ found: 2, adopted: 2, movedTo: 9, walked: [{ from: 1, to: 13 }] });
    for (const stream of streams) expect(await status(stream)).toBe('issued');
  });

  describe('after a company file had changed', () => {
    const point = (number: number, rest: Partial<StartingPoint> = {}): StartingPoint => ({
      companyId: DEMO_CNPJ,
      mode: 'live',
      series: '1',
      number,
      ...rest,
    });

    it('says which numbers were asked for, and sees no note elsewhere', async () => {
      const { deps, accept, numbers, register, status } = await recoveryHarness();
      await numbers('live', allocated(119, 9));
      const stream = await accept(1);
      register(1, 1_001);
      const done = await compare(deps, false);
      expect(done.series[0]).toMatchObject({ series: '1', walked: [{ from: 119, to: 124 }], found: 0 });
      expect(await status(stream)).toBe('open');
    });

    it.each([
      ['number', 1_001, { series: '1', municipality: RIO }],
      ['series', 3, { series: '2', municipality: RIO }],
      // The city of an invoice is that of its acceptance, so an invoice of the log never has the other one.
      ['city', 121, { series: '1', municipality: NITEROI }],
    ])('finds the notes of another %s from a named starting point on', async (what, number, place) => {
      const { deps, accept, numbers, register, status } = await recoveryHarness();
      await numbers('live', allocated(119, 9));
      const stream = await accept(1);
      register(1, number, 'live', what === 'city' ? {} : place);
      register(7, number + 1, 'live', place);
      const named = [point(number - 1, place)];
      expect(await compare({ ...deps, named }, false)).toMatchObject({
        isDone: false,
        unknown: [{ number: number + 1 }],
      });
      expect(await status(stream)).toBe('issued');
      const done = await compare({ ...deps, named }, true);
      const moved = done.series.flatMap(({ series, movedTo }) => (movedTo === undefined ? [] : [{ series, movedTo }]));
      expect(moved).toEqual([{ series: place.series, movedTo: number + 2 }]);
      expect(done.series.filter(({ mode }) => mode === 'test')).toHaveLength(1);
    });

    it('asks from a number on that the database holds, and where its company file begins', async () => {
      const { companyId, mode, series } = point(0);
      const held = { companyId, mode, series, municipality: RIO, number: 1_001, last: 1_002 };
      const ends: unknown[] = [];
      const { registration, certificate } = demoCompany(DEMO_CNPJ);
      const dps = { ...registration.dps, test: { series: '3', nextNumber: 7 } };
      const { deps, accept, numbers, register, status } = await recoveryHarness({
        heldNumbers: async (...asked) => [held].filter(() => ends.push(asked)),
        companyRows: async () => [{ registration: { ...registration, dps }, ...(certificate && { certificate }) }],
      });
      await numbers('live', allocated(119, 9));
      const stream = await accept(1);
      register(1, 1_001);
      const done = await compare(deps, false);
      expect(ends).toMatchObject([[[{ companyId, mode, series, nextNumber: 120 }], deps.span]]);
      expect(done.series[0]).toMatchObject({
        adopted: 1,
        movedTo: 1_002,
        walked: [
          { from: 119, to: 124 },
          { from: 1_001, to: 1_006 },
        ],
      });
      expect(done.series).toContainEqual(
        expect.objectContaining({ mode: 'test', series: '3', walked: [{ from: 7, to: 11 }] }),
      );
      expect(await status(stream)).toBe('issued');
    });

    it('begins where the log stood before a file that was put too early', async () => {
      const municipalityOf = ({ city }: { city: string }): string => (city === 'Niterói' ? NITEROI : RIO);
      const { deps, numbers, putFile } = await recoveryHarness({ municipalityOf });
      await numbers('live', allocated(119, 9), { type: 'DpsNumberMoved', data: { nextNumber: 1_000, at: T0 } });
      const dps = { live: { series: '2', nextNumber: 5 }, test: { series: '1', nextNumber: 1 } };
      await putFile({ city: 'Niterói', dps });
      const { series } = await compare(deps, false);
      const live = series.filter(({ mode }) => mode === 'live');
      const walked = { '1': [119, 1_000], '2': [5] };
      expect(live.map((one) => [one.series, one.municipality, one.walked.map(({ from }) => from)])).toEqual([
        ...[RIO, NITEROI].map((city) => ['1', city, walked['1']]),
        ...[RIO, NITEROI].map((city) => ['2', city, walked['2']]),
      ]);
    });

    it('begins where the log stood before each of several moves', async () => {
      const { deps, accept, numbers, register, status } = await recoveryHarness();
      const moved = (nextNumber: number) => ({ type: 'DpsNumberMoved', data: { nextNumber, at: T0 } }) as const;
      await numbers('live', allocated(119, 9), moved(1_000), moved(2_000));
      const stream = await accept(1);
      register(1, 1_002);
      const { series } = await compare(deps, false);
      const walked = [
        { from: 119, to: 124 },
        { from: 1_000, to: 1_007 },
        { from: 2_000, to: 2_004 },
      ];
      expect(series[0]).toMatchObject({ mode: 'live', adopted: 1, walked });
      expect(await status(stream)).toBe('issued');
    });

    it('begins at a named number right behind those of another walk', async () => {
      const { deps, accept, register, status } = await recoveryHarness({ named: [point(6)] });
      const stream = await accept(1);
      register(1, 6);
      const { series } = await compare(deps, false);
      expect(series[0]).toMatchObject({ mode: 'live', adopted: 1, movedTo: 7, walked: [{ from: 1, to: 11 }] });
      expect(await status(stream)).toBe('issued');
    });

    it('begins where the lost numbers began, also when a file that was put too early is all that the log has of the series', async () => {
      const asked: unknown[] = [];
      const { deps, accept, numbers, putFile, register, status } = await recoveryHarness({
        heldNumbers: async (ends) => {
          asked.push(...ends);
          return [];
        },
      });
      const stream = await accept(1);
      register(1, 3);
      await numbers('live', { type: 'DpsNumberMoved', data: { nextNumber: 1_000, at: T0 } });
      await putFile({ dps: { live: { series: '1', nextNumber: 1_000 }, test: { series: '1', nextNumber: 1 } } });
      const { series } = await compare(deps, false);
      const walked = [
        { from: 1, to: 8 },
        { from: 1_000, to: 1_004 },
      ];
      expect(series[0]).toMatchObject({ mode: 'live', adopted: 1, walked });
      expect(await status(stream)).toBe('issued');
      expect(asked).toEqual([]);
    });

    it('counts a note once when a walk that goes on runs into the next one', async () => {
      const { deps, accept, register, clock } = await recoveryHarness({ named: [point(8)] });
      await accept(1);
      await accept(2);
      register(2, 8);
      const late = [() => register(1, 5)];
      const waitUntil = async (until: string): Promise<void> => {
        clock.moveTo(until);
        for (const arrive of late.splice(0)) arrive();
      };
      const done = await compare({ ...deps, waitUntil }, false);
      expect(done.series[0]).toMatchObject({ found: 2, adopted: 2, movedTo: 9 });
    });

    it('refuses to begin where nothing can be asked, unless the operator leaves that mode out', async () => {
      const { deps, ledgers } = await recoveryHarness();
      const stranger = [point(1, { companyId: OTHER_CNPJ })];
      expect(await compareRestoredLog({ ...deps, named: stranger }, false)).toEqual({
        refused: expect.stringContaining(`knows no company ${OTHER_CNPJ}`),
      });
      expect(await compareRestoredLog({ ...deps, named: [point(1)], modesWithoutLedger: ['live'] }, false)).toEqual({
        refused: expect.stringContaining('live mode cannot be compared'),
      });
      expect(await compareRestoredLog({ ...deps, modesWithoutLedger: ['live'] }, true)).toEqual({
        refused: expect.stringMatching(
          /nothing was compared in live mode: no AUTHORIZER_LIVE_URL.*--without-authorizer live$/,
        ),
      });
      const forSimulator = { modesWithoutLedger: modes, isForSimulator: async () => true };
      expect(await compareRestoredLog({ ...deps, ...forSimulator }, false)).toMatchObject({
        skipped: modes.map((mode) => ({ mode, why: expect.stringContaining("the simulator's ledger is not here") })),
      });
      expect(await compareRestoredLog({ ...deps, withoutAuthorizer: ['live'] }, false)).toEqual({
        refused: expect.stringContaining('live mode has an authorizer here'),
      });
      expect(await compareRestoredLog({ ...deps, named: [point(1)], municipalityOf: () => undefined }, false)).toEqual({
        refused: expect.stringContaining('name its IBGE code'),
      });
      for (const { calls } of Object.values(ledgers)) expect(calls).toEqual([]);
    });

    it('asks for a company without a certificate when it may have issued', async () => {
      const { deps } = await recoveryHarness({ modesWithoutLedger: ['test'], withoutAuthorizer: ['test'] });
      const { registration } = demoCompany(OTHER_CNPJ);
      const registered = { type: 'CompanyRegistered', data: { registration, at: T0 } } as const;
      await appendTo(deps.store, companyStream(OTHER_CNPJ), [registered], T0);
      const skipped = (await compare(deps, false)).skipped.filter(({ companyId }) => companyId === OTHER_CNPJ);
      expect(skipped).toEqual([
        { companyId: OTHER_CNPJ, why: expect.stringContaining('it has no certificate'), isHeld: true },
      ]);
      const { series } = await compare({ ...deps, named: [point(9, { companyId: OTHER_CNPJ })] }, false);
      expect(series).toContainEqual(
        expect.objectContaining({
          companyId: OTHER_CNPJ,
          walked: [
            { from: 1, to: 5 },
            { from: 9, to: 13 },
          ],
        }),
      );
    });

    it('says which numbers the database has of a company that the log does not know', async () => {
      const stranger = {
        companyId: OTHER_CNPJ,
        mode: 'live',
        series: '4',
        municipality: RIO,
        number: 1,
        last: 17,
      } as const;
      const { deps } = await recoveryHarness({ heldNumbers: async () => [stranger] });
      expect(await compare(deps, false)).toMatchObject({
        isDone: true,
        skipped: [{ companyId: OTHER_CNPJ, mode: 'live' }],
      });
      const [skipped] = (await compare(deps, false)).skipped;
      expect(skipped?.why).toContain('number 17 of series 4');
    });
  });

  it('skips a disabled company without a city, and a mode without a ledger here that the operator leaves out', async () => {
    const { deps, ledgers } = await recoveryHarness({ municipalityOf: () => undefined });
    expect(await compare(deps, false)).toMatchObject({
      isDone: true,
      series: [],
      skipped: [{ companyId: DEMO_CNPJ, why: expect.stringContaining('city') }],
    });
    const leftOut = { modesWithoutLedger: modes, withoutAuthorizer: modes };
    const municipalityOf = (): string => '3304557';
    expect(await compare({ ...deps, municipalityOf, ...leftOut }, false)).toMatchObject({
      isDone: true,
      series: [],
      skipped: [{ mode: 'live' }, { mode: 'test' }],
    });
    for (const { calls } of Object.values(ledgers)) expect(calls).toEqual([]);
  });

  it('gives nothing to an invoice that has an outcome, which never changes by itself', async () => {
    const { deps, accept, register, status } = await recoveryHarness();
    const stream = await accept(1, 'live', attempted(1, 10), interrupted);
    register(1, 1);
    expect(await compare(deps, false)).toMatchObject({ isDone: false, unknown: [{ number: 1 }] });
    expect(await status(stream)).toBe('indeterminate');
  });
});
