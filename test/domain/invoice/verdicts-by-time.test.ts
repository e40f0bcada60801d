import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideVerdict } from '../../../src/domain/invoice/decide-issuance.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import {
  type IssueVerdict,
  mayBeSentUntil,
  nextIssueStep,
  verdictByTime,
} from '../../../src/domain/invoice/next-issue-step.js';
import * as event from '../../support/fixture/invoice.js';

const { accepted, at, attempted, conflictFound, given, givenInvoice, limits, notSent, provenAbsent, unknown } = event;

/** Acceptance at 12:00:00. Each verdict, and the instant from which it may be recorded (docs/architecture.md#never-twice, point 8). */
const verdicts: readonly [string, readonly InvoiceEvent[], IssueVerdict['event'], string][] = [
  ['queued', [accepted()], 'NotProcessed', '2026-11-21T12:15:00.000Z'],
  [
    'never sent: 60 minutes after the first attempt',
    [accepted(), attempted(1, 600), notSent(1, 601), attempted(2, 3000), notSent(2, 3001)],
    'IssuanceFailed',
    '2026-11-21T13:10:00.000Z',
  ],
  [
    'sent without an answer: 60 minutes after the send',
    [accepted(), attempted(1, 600)],
    'IssuanceInterrupted',
    '2026-11-21T13:10:00.000Z',
  ],
  [
    'sent with an unclear answer: 60 minutes after the answer',
    [accepted(), attempted(1, 600), unknown(1, 630)],
    'IssuanceInterrupted',
    '2026-11-21T13:10:30.000Z',
  ],
  [
    'proven absent: a look-up is no signal, and absence never fails an invoice',
    [accepted(), attempted(1, 600), unknown(1, 630), provenAbsent(1, 900)],
    'IssuanceInterrupted',
    '2026-11-21T13:10:30.000Z',
  ],
  [
    'absent, then never left: the last send counts',
    [accepted(), attempted(1, 600), provenAbsent(1, 900), attempted(2, 1200), notSent(2, 1201)],
    'IssuanceInterrupted',
    '2026-11-21T13:20:01.000Z',
  ],
  [
    'a foreign note of other content',
    [accepted(), attempted(1, 600), unknown(1, 630), conflictFound(1, 700)],
    'IssuanceInterrupted',
    '2026-11-21T13:10:30.000Z',
  ],
  [
    'a foreign note of other content, then a new number that never left',
    [accepted(), attempted(1, 600), unknown(1, 630), conflictFound(1, 700), attempted(2, 1200), notSent(2, 1201)],
    'IssuanceFailed',
    '2026-11-21T13:10:00.000Z',
  ],
  [
    'a foreign note of other content, then a new number without an answer',
    [accepted(), attempted(1, 600), conflictFound(1, 700), attempted(2, 1200)],
    'IssuanceInterrupted',
    '2026-11-21T13:20:00.000Z',
  ],
];

const kinds = ['NotProcessed', 'IssuanceFailed', 'IssuanceInterrupted'] as const;

describe('the verdict of time', () => {
  it.each(verdicts)('on an invoice %s', (_what, history, type, failedAt) => {
    const verdict = { event: type, failedAt };
    expect(verdictByTime(givenInvoice(...history), limits)).toEqual(verdict);
    const before = new Date(Date.parse(failedAt) - 1).toISOString();
    expect(decideVerdict(given(...history), verdict, before, limits, false)).toEqual({ refused: 'not due' });
    expect(decideVerdict(given(...history), verdict, failedAt, limits, false)).toEqual({
      events: [{ type, data: { failedAt, at: failedAt } }],
    });
  });

  it.each(verdicts)('dates the end by its due instant and not by the sweep: %s', (_what, history, type, failedAt) => {
    const late = '2026-11-22T12:00:00.000Z';
    expect(decideVerdict(given(...history), { event: type, failedAt }, late, limits, false)).toEqual({
      events: [{ type, data: { failedAt, at: late } }],
    });
  });

  it.each(verdicts)('is the state’s own, whatever the sweep believed: %s', (_what, history, type) => {
    for (const other of kinds.filter((kind) => kind !== type)) {
      const decision = decideVerdict(given(...history), { event: other, failedAt: at(0) }, at(90_000), limits, false);
      expect(decision).toEqual({ refused: 'not due' });
    }
  });

  it.each(verdicts)('is what the protocol asks for from that instant on: %s', (_what, history, type, failedAt) => {
    const aroundTheHour = fc.integer({ min: -7_200_000, max: 7_200_000 });
    fc.assert(
      fc.property(fc.oneof(aroundTheHour, fc.integer({ min: -3, max: 3 })), (offsetMs) => {
        const now = new Date(Date.parse(failedAt) + offsetMs).toISOString();
        const step = nextIssueStep(given(...history), now, limits, { asked: 0 });
        expect(step.do === 'conclude').toBe(offsetMs >= 0);
        const decision = decideVerdict(given(...history), { event: type, failedAt }, now, limits, false);
        expect('events' in decision).toBe(offsetMs >= 0);
      }),
    );
  });

  it('leaves an outcome alone', () => {
    const issued = given(accepted(), attempted(1, 1), event.authorized(1, 2));
    for (const kind of kinds) {
      expect(decideVerdict(issued, { event: kind, failedAt: at(0) }, at(90_000), limits, false)).toEqual({
        events: [],
      });
    }
    expect(decideVerdict(given(), { event: 'NotProcessed', failedAt: at(0) }, at(90_000), limits, false)).toEqual({
      events: [],
    });
  });
});

describe('a foreign note that may be our own', () => {
  const history = [accepted(), attempted(1, 600), unknown(1, 630), conflictFound(1, 700, true)] as const;
  const verdict = { event: 'IssuanceInterrupted' as const, failedAt: at(700) };

  it('ends the invoice at once, dated by the discovery', () => {
    expect(nextIssueStep(given(...history), at(701), limits, { asked: 0 })).toEqual({ do: 'conclude', verdict });
    expect(decideVerdict(given(...history), verdict, at(701), limits, false)).toEqual({
      events: [{ type: 'IssuanceInterrupted', data: { failedAt: at(700), at: at(701) } }],
    });
  });

  it('also on a machine whose clock is behind the one that found the note', () => {
    const behind = at(640);
    const step = nextIssueStep(given(...history), behind, limits, { asked: 0 });
    expect(step).toEqual({ do: 'conclude', verdict });
    expect(decideVerdict(given(...history), verdict, behind, limits, false)).toMatchObject({
      events: [{ type: 'IssuanceInterrupted' }],
    });
  });

  it('never as failed or not processed', () => {
    for (const kind of ['IssuanceFailed', 'NotProcessed'] as const) {
      expect(decideVerdict(given(...history), { ...verdict, event: kind }, at(701), limits, false)).toEqual({
        refused: 'not due',
      });
    }
  });

  it('with other content gives time to a new number', () => {
    const other = given(accepted(), attempted(1, 600), unknown(1, 630), conflictFound(1, 700, false));
    expect(decideVerdict(other, verdict, at(701), limits, false)).toEqual({ refused: 'not due' });
  });
});

it('a document that the last look-up has shown turns "not sent" into "nobody knows"', () => {
  const state = given(accepted(), attempted(1, 0), notSent(1, 1));
  const verdict = { event: 'IssuanceFailed', failedAt: at(3600) } as const;
  expect(decideVerdict(state, verdict, at(3600), limits, true)).toEqual({
    events: [{ type: 'IssuanceInterrupted', data: { failedAt: at(3600), at: at(3600) } }],
  });
});

it('an open invoice may be sent until its verdict, and not again once its own content is under its number', () => {
  const sent = [accepted(), attempted(1, 600)];
  expect(mayBeSentUntil(given(accepted()), limits)).toBe(at(900));
  expect(mayBeSentUntil(given(...sent), limits)).toBe(at(4_200));
  expect(mayBeSentUntil(given(...sent, notSent(1, 601)), limits)).toBe(at(4_200));
  expect(mayBeSentUntil(given(...sent, conflictFound(1, 700)), limits)).toBe(at(4_200));
  expect(mayBeSentUntil(given(...sent, conflictFound(1, 700, true)), limits)).toBeUndefined();
  expect(mayBeSentUntil(given(...sent, event.rejected(1, 601)), limits)).toBeUndefined();
});

it('the fifth send is the last, and the end of the time is named all the same', () => {
  const five = [1, 2, 3, 4, 5].flatMap((nth) => [
    attempted(nth, nth * 500),
    unknown(nth, nth * 500 + 1),
    provenAbsent(nth, nth * 500 + 200),
  ]);
  const state = given(accepted(), ...five);
  const until = at(2_501 + 3_600);
  expect(mayBeSentUntil(state, limits)).toBe(until);
  expect(nextIssueStep(state, at(2_800), limits, { asked: 0 })).toEqual({ do: 'wait', until });
});
