import { describe, expect, it } from 'vitest';
import type { RecoveryDeps, StartingPoint } from '../../../src/app/recovery/ask-series.js';
import { compareRestoredLog, type RecoveryReport } from '../../../src/app/recovery/recover-log.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { DAY_SECONDS } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  conflictFound,
  interrupted,
  notSent,
  rejected,
} from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const dpsOf = (number: number) => dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number });

const underNumber = (number: number, attempt = 1): InvoiceEvent => {
  const { type, data } = attempted(attempt, 25);
  return { type, data: { ...data, number, dpsId: dpsOf(number) } };
};

const compare = async (deps: RecoveryDeps, acceptUnknown: boolean): Promise<RecoveryReport> => {
  const report = await compareRestoredLog(deps, acceptUnknown);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

/** Invoice 8 is another sale, to which the log gave number 3 at this instant, after it had lost invoice 7 with its note under that number. */
const giveAgain = async ({ deps, numbers }: RecoveryHarness, when: string, ...events: readonly InvoiceEvent[]) => {
  await numbers('live', {
    type: 'DpsNumberAllocated',
    data: { invoiceId: idOf(8), number: 3, nextNumber: 4, at: when },
  });
  const sale = { mode: 'live', invoiceId: idOf(8), amountInCents: 990_000, reference: 'pedido-8' } as const;
  const stream = invoiceStream('live', DEMO_CNPJ, idOf(8));
  await appendTo(deps.store, stream, [accepted({ ...sale, acceptedAt: when }), ...events], when);
};

/** The repeated request of invoice 7, accepted and not sent. */
const acceptAgain = ({ deps }: RecoveryHarness) => {
  const facts = { mode: 'live', invoiceId: idOf(7), description: 'Pedido 7', reference: 'pedido-7' } as const;
  const stream = invoiceStream('live', DEMO_CNPJ, idOf(7));
  return appendTo(deps.store, stream, [accepted({ ...facts, acceptedAt: at(30) })], at(30));
};

describe('a lost note whose number the log gave again', () => {
  it.each<[what: string, ...events: InvoiceEvent[]]>([
    ['was not used'],
    ['was not used for an invoice that has failed', { type: 'NotProcessed', data: { failedAt: at(40), at: at(40) } }],
    ['has a send without an answer', underNumber(3)],
    ['has a send that never left', underNumber(3), notSent(1, 26)],
    ['has another note', underNumber(3), conflictFound(1, 26)],
    ['was refused', underNumber(3), rejected(1, 26)],
    ['is that of an indeterminate invoice', underNumber(3), interrupted],
    [
      'was followed by the number of the note',
      underNumber(3),
      conflictFound(1, 26),
      underNumber(4, 2),
      authorized(2, 27),
    ],
  ])('is found where that number %s', async (_what, ...events) => {
    const harness = await recoveryHarness();
    const { accessKey } = harness.register(7, 3);
    await giveAgain(harness, at(19), ...events);
    await acceptAgain(harness);
    const unknown = [{ number: 3, accessKey, acceptedAgain: [`nfse_${idOf(7)}`] }];
    for (const acceptUnknown of [false, true])
      expect(await compare(harness.deps, acceptUnknown)).toMatchObject({ isDone: false, unknown });
  });

  it('is found only from a named number on where that was more than a week before the loss was seen', async () => {
    const harness = await recoveryHarness();
    harness.register(7, 3);
    const { deps, numbers } = harness;
    await giveAgain(harness, at(-3_600 - 7 * DAY_SECONDS - 1), underNumber(3), rejected(1, 26));
    await numbers('live', {
      type: 'DpsNumberAllocated',
      data: { invoiceId: idOf(9), number: 50, nextNumber: 51, at: at(19) },
    });
    expect(await compare(deps, false)).toMatchObject({ isDone: true, unknown: [] });
    const named: StartingPoint[] = [{ companyId: DEMO_CNPJ, mode: 'live', series: '1', number: 2 }];
    const report = await compare({ ...deps, named }, false);
    expect(report).toMatchObject({ isDone: false, unknown: [{ number: 3 }] });
    expect(report.series[0]?.walked).toEqual([
      { from: 2, to: 8 },
      { from: 50, to: 55 },
    ]);
  });
});

it.each<[status: string, ...events: InvoiceEvent[]]>([
  ['is open', underNumber(3)],
  ['is indeterminate', underNumber(3), interrupted],
])('the note of an attempt that the log has is no lost note, while its invoice %s', async (_status, ...events) => {
  const harness = await recoveryHarness();
  const note = harness.register(8, 3);
  await giveAgain(harness, at(19), ...events);
  Object.assign(note, { digest: 'digest' });
  expect(await compare(harness.deps, false)).toMatchObject({ isDone: true, unknown: [], series: [{ found: 0 }, {}] });
});

it.each<[status: string, ...events: InvoiceEvent[]]>([
  ['failed', underNumber(3), notSent(1, 26), { type: 'IssuanceFailed', data: { failedAt: at(3_700), at: at(3_700) } }],
  ['failed', underNumber(3), rejected(1, 26)],
  ['issued', underNumber(3), notSent(1, 26), underNumber(4, 2), authorized(2, 27)],
])(
  'the note of an attempt that the log has is named with its invoice, once that is %s without it',
  async (status, ...events) => {
    const harness = await recoveryHarness();
    const note = harness.register(8, 3);
    await giveAgain(harness, at(19), ...events);
    Object.assign(note, { digest: 'digest' });
    const unknown = [{ number: 3, accessKey: note.accessKey, owner: { id: `nfse_${idOf(8)}`, status } }];
    expect(await compare(harness.deps, false)).toMatchObject({ isDone: false, unknown, series: [{ found: 1 }, {}] });
    expect(await compare(harness.deps, true)).toMatchObject({ isDone: true, unknown });
  },
);

it('asks for no number under which the log has the note', async () => {
  const harness = await recoveryHarness();
  await giveAgain(harness, at(19), underNumber(3), authorized(1, 27));
  const asked: string[] = [];
  const { authorizer } = harness.deps;
  const findByDps: typeof authorizer.findByDps = (caller, id) => {
    if (caller.mode === 'live') asked.push(id);
    return authorizer.findByDps(caller, id);
  };
  await compare({ ...harness.deps, authorizer: { ...authorizer, findByDps } }, false);
  expect(asked).toContain(dpsOf(4));
  expect(asked).not.toContain(dpsOf(3));
});

describe('a number of the log whose look-up proves nothing', () => {
  const NO_PROOF = { kind: 'inconclusive', reason: 'unreadable' } as const;
  /** The first `times` look-ups of number 3 prove nothing. */
  const without = ({ deps }: RecoveryHarness, times: number): RecoveryDeps => {
    const { authorizer } = deps;
    let asked = 0;
    const findByDps: typeof authorizer.findByDps = async (caller, id) => {
      if (caller.mode !== 'live' || id !== dpsOf(3)) return authorizer.findByDps(caller, id);
      asked += 1;
      return asked <= times ? NO_PROOF : authorizer.findByDps(caller, id);
    };
    return { ...deps, authorizer: { ...authorizer, findByDps } };
  };
  const SIX_DAYS_AGO = at(-3_600 - 6 * DAY_SECONDS);

  it('is named, and --accept-unknown ends the pause, where the log has the attempt', async () => {
    const harness = await recoveryHarness();
    await giveAgain(harness, SIX_DAYS_AGO, underNumber(3), interrupted);
    const deps = without(harness, Number.POSITIVE_INFINITY);
    const doubtful = [
      { companyId: DEMO_CNPJ, mode: 'live', series: '1', number: 3, dpsId: dpsOf(3), why: 'unreadable' },
    ];
    expect(await compare(deps, false)).toMatchObject({ isDone: false, unproven: [], doubtful });
    expect(await compare(deps, true)).toMatchObject({ isDone: true, unproven: [], doubtful });
  });

  it('is asked for again, and then proven as each other one', async () => {
    const harness = await recoveryHarness();
    const { accessKey } = harness.register(7, 3);
    await giveAgain(harness, SIX_DAYS_AGO, underNumber(3), interrupted);
    for (const times of [2, 4]) {
      const unknown = [{ number: 3, accessKey }];
      expect(await compare(without(harness, times), false)).toMatchObject({ isDone: false, unknown, doubtful: [] });
    }
    const empty = await recoveryHarness();
    await giveAgain(empty, SIX_DAYS_AGO, underNumber(3), interrupted);
    expect(await compare(without(empty, 4), false)).toMatchObject({ isDone: true, unknown: [], doubtful: [] });
  });

  describe('while another number comes into doubt in its place', () => {
    /** The log has attempts under these numbers. In round `n` from 0 on, the number at place `n` proves nothing, and the others are absent. */
    const alternating = async (inDoubt: readonly (3 | 4)[]) => {
      const harness = await recoveryHarness();
      await giveAgain(harness, SIX_DAYS_AGO, underNumber(3), interrupted);
      const other = { mode: 'live', invoiceId: idOf(9), reference: 'pedido-9', acceptedAt: SIX_DAYS_AGO } as const;
      const stream = invoiceStream('live', DEMO_CNPJ, idOf(9));
      const allocated = { invoiceId: idOf(9), number: 4, nextNumber: 5, at: SIX_DAYS_AGO };
      await harness.numbers('live', { type: 'DpsNumberAllocated', data: allocated });
      await appendTo(harness.deps.store, stream, [accepted(other), underNumber(4), interrupted], SIX_DAYS_AGO);
      const { authorizer } = harness.deps;
      let rounds = 0;
      const absences = new Map<string, number>();
      const findByDps: typeof authorizer.findByDps = async (caller, id) => {
        const number = inDoubt[rounds % inDoubt.length];
        if (caller.mode === 'live' && number !== undefined && id === dpsOf(number)) return NO_PROOF;
        if (caller.mode === 'live') absences.set(id, (absences.get(id) ?? 0) + 1);
        return authorizer.findByDps(caller, id);
      };
      const onProgress = (text: string) => {
        if (text.startsWith('what was not there')) rounds += 1;
      };
      const report = await compare({ ...harness.deps, authorizer: { ...authorizer, findByDps }, onProgress }, true);
      return { report, rounds, absences: [absences.get(dpsOf(3)), absences.get(dpsOf(4))] };
    };

    it('is proven by a second absence all the same', async () => {
      const { report, rounds, absences } = await alternating([3, 4, 4, 4, 4, 4]);
      expect(report).toMatchObject({ isDone: true, doubtful: [{ number: 4 }] });
      expect({ rounds, absences }).toEqual({ rounds: 2, absences: [2, 1] });
    });

    it('stays in doubt where that goes on, and the comparison ends', async () => {
      const { report, rounds } = await alternating([3, 4]);
      expect(report.doubtful.map(({ number }) => number).sort()).toEqual([3, 4]);
      expect(rounds).toBe(6);
    });
  });

  it('ends the comparison with its DPS id where the log has no attempt', async () => {
    const harness = await recoveryHarness();
    await giveAgain(harness, SIX_DAYS_AGO);
    const unproven = [
      { companyId: DEMO_CNPJ, mode: 'live', series: '1', number: 3, dpsId: dpsOf(3), why: 'unreadable' },
    ];
    expect(await compare(without(harness, 1), true)).toMatchObject({ isDone: false, unproven, doubtful: [] });
  });
});
