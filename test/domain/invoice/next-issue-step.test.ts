import { describe, expect, it } from 'vitest';
import { nextIssueStep } from '../../../src/domain/invoice/next-issue-step.js';
import type { LookupProgress } from '../../../src/domain/invoice/send-steps.js';
import type { InvoiceState } from '../../../src/domain/invoice/state.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  conflictFound,
  given,
  interrupted,
  limits,
  notSent,
  provenAbsent,
  rejected,
  unknown,
} from '../../support/fixture/invoice.js';

const step = (state: InvoiceState, seconds: number, progress: LookupProgress = { asked: 0 }) =>
  nextIssueStep(state, at(seconds), limits, progress);

describe('a queued invoice', () => {
  it('is sent', () => {
    expect(step(given(accepted()), 1)).toEqual({ do: 'send', attempt: 1 });
  });

  it.each([
    ['is sent at once', '2026-11-21T02:59:59.999Z', '2026-11-20', undefined],
    ['waits for the second minute of its day', '2026-11-21T03:00:00.000Z', '2026-11-21', '2026-11-21T03:01:00.000Z'],
    ['waits for it to its last moment', '2026-11-21T03:00:59.000Z', '2026-11-21', '2026-11-21T03:01:00.000Z'],
    ['is sent at once from then on', '2026-11-21T03:01:00.000Z', '2026-11-21', undefined],
  ])(
    '%s when it came at %s, as its emission may not be younger than a minute (E0008)',
    (_case, acceptedAt, competence, until) => {
      const state = given(accepted({ acceptedAt, competence }));
      expect(nextIssueStep(state, acceptedAt, limits, { asked: 0 })).toEqual(
        until === undefined ? { do: 'send', attempt: 1 } : { do: 'wait', until },
      );
      if (until !== undefined) expect(nextIssueStep(state, until, limits, { asked: 0 })).toMatchObject({ do: 'send' });
    },
  );

  it('is concluded as not processed at 15 minutes, dated by the due instant', () => {
    expect(step(given(accepted()), 899)).toEqual({ do: 'send', attempt: 1 });
    expect(step(given(accepted()), 905)).toEqual({
      do: 'conclude',
      verdict: { event: 'NotProcessed', failedAt: at(900) },
    });
  });
});

describe('an attempt without an answer', () => {
  it('is left alone until its deadline, then looked up', () => {
    const state = given(accepted(), attempted(1, 1));
    expect(step(state, 10)).toEqual({ do: 'wait', until: at(36) });
    expect(step(state, 36)).toMatchObject({ do: 'look_up', send: { attempt: 1 } });
  });

  it('is left alone until then also when an earlier attempt was looked up', () => {
    const resent = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130), attempted(2, 200));
    expect(step(resent, 234, { asked: 2, lastAskedAt: at(100) })).toEqual({ do: 'wait', until: at(235) });
  });

  it('is looked up after the pauses of the configuration, the last one repeating', () => {
    const state = given(accepted(), attempted(1, 1), unknown(1, 2));
    expect(step(state, 3)).toEqual({ do: 'wait', until: at(32) });
    expect(step(state, 32)).toMatchObject({ do: 'look_up' });
    expect(step(state, 40, { asked: 1, lastAskedAt: at(32) })).toEqual({ do: 'wait', until: at(92) });
    expect(step(state, 1200, { asked: 9, lastAskedAt: at(700) })).toEqual({ do: 'wait', until: at(1300) });
  });
});

describe('an attempt whose answer says that the DPS exists', () => {
  const state = given(accepted(), attempted(1, 1), unknown(1, 2, ['E0014']));

  it("is looked up at once, because another party's note there must stop the series before it gives further numbers", () => {
    expect(step(state, 2)).toMatchObject({ do: 'look_up', send: { attempt: 1 } });
  });

  it('is looked up after the pauses of the configuration from then on', () => {
    expect(step(state, 3, { asked: 1, lastAskedAt: at(2) })).toEqual({ do: 'wait', until: at(32) });
    expect(step(state, 33, { asked: 2, lastAskedAt: at(32) })).toEqual({ do: 'wait', until: at(92) });
  });
});

describe('bytes that never left', () => {
  it('are sent again with a growing pause, and do not count as sends', () => {
    const events = [1, 2, 3, 4, 5, 6].flatMap((n) => [attempted(n, n), notSent(n, n)]);
    const state = given(accepted(), ...events);
    expect(step(state, 7)).toEqual({ do: 'wait', until: at(6 + 32) });
    expect(step(state, 60)).toMatchObject({ do: 'resend', attempt: 7, of: { attempt: 6 } });
  });

  it('end as a safe failure one processing limit after the first attempt', () => {
    const state = given(accepted(), attempted(1, 10), notSent(1, 11), attempted(2, 3000), notSent(2, 3001));
    expect(step(state, 3610)).toMatchObject({
      do: 'conclude',
      verdict: { event: 'IssuanceFailed', failedAt: at(3610) },
      lookUpFirst: { attempt: 2 },
    });
  });
});

describe('the pause before bytes that never left go again', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [6, 32],
    [7, 60],
    [9, 60],
  ])('is, after %i failures in a row, %i s', (failures, pause) => {
    const events = Array.from({ length: failures }, (_unused, i) => i + 1).flatMap((n) => [
      attempted(n, n),
      notSent(n, n),
    ]);
    const state = given(accepted(), ...events);
    expect(step(state, failures + pause - 1)).toEqual({ do: 'wait', until: at(failures + pause) });
    expect(step(state, failures + pause)).toMatchObject({ do: 'resend', attempt: failures + 1 });
  });

  it('starts again after a send that left', () => {
    const left = [attempted(1, 1), notSent(1, 1), attempted(2, 3), provenAbsent(2, 150)];
    const state = given(accepted(), ...left, attempted(3, 160), notSent(3, 161));
    expect(step(state, 161)).toEqual({ do: 'wait', until: at(162) });
    expect(step(state, 162)).toMatchObject({ do: 'resend', attempt: 4, of: { attempt: 3 } });
  });

  it('ends with the processing limit of the first attempt', () => {
    const state = given(accepted(), attempted(1, 1), provenAbsent(1, 150), attempted(2, 3590), notSent(2, 3599));
    expect(step(state, 3600)).toMatchObject({ do: 'resend', attempt: 3 });
    expect(step(state, 3601)).toEqual({ do: 'wait', until: at(7199) });
  });
});

describe('bytes that may have arrived', () => {
  it('are sent again only after a proven absence', () => {
    const unproven = given(accepted(), attempted(1, 1), unknown(1, 2));
    expect(step(unproven, 130)).toMatchObject({ do: 'look_up' });
    const state = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130));
    expect(step(state, 130)).toMatchObject({ do: 'resend', attempt: 2, of: { attempt: 1 } });
  });

  it('are sent at most five times', () => {
    const events = [1, 2, 3, 4, 5].flatMap((n) => [
      attempted(n, n * 200),
      unknown(n, n * 200 + 1),
      provenAbsent(n, n * 200 + 150),
    ]);
    expect(step(given(accepted(), ...events.slice(0, -3)), 1300)).toMatchObject({ do: 'resend', attempt: 5 });
    expect(step(given(accepted(), ...events), 1300)).toEqual({ do: 'wait', until: at(1001 + 3600) });
  });

  /** Each send is answered after a second with a code that passes, and proven absent after 200 s. */
  const undecided = (...starts: number[]) =>
    starts.flatMap((start, index) => [
      attempted(index + 1, start),
      unknown(index + 1, start + 1, ['RNG9999']),
      provenAbsent(index + 1, start + 200),
    ]);

  it.each([
    ['at once', [1], 201],
    ['an eighth of the limit', [1, 201], 451],
    ['three eighths', [1, 201, 451], 1351],
    ['seven eighths', [1, 201, 451, 1351], 3151],
  ])(
    'are sent again later each time the authorizer leaves them undecided: %s after the first',
    (_when, starts, again) => {
      const state = given(accepted(), ...undecided(...starts));
      const last = starts.length;
      if (again > (starts.at(-1) ?? 0) + 200) expect(step(state, again - 1)).toEqual({ do: 'wait', until: at(again) });
      expect(step(state, again)).toMatchObject({ do: 'resend', attempt: last + 1 });
    },
  );

  it('are sent again at once after a lost answer, however often they were undecided', () => {
    const lost = [attempted(3, 451), unknown(3, 452), provenAbsent(3, 651)];
    expect(step(given(accepted(), ...undecided(1, 201), ...lost), 651)).toMatchObject({ do: 'resend', attempt: 4 });
  });

  it('are sent again at once when the authorizer leaves them undecided after lost answers', () => {
    const lost = [attempted(1, 1), unknown(1, 2), provenAbsent(1, 201), attempted(2, 201), provenAbsent(2, 401)];
    const events = [...lost, attempted(3, 401), unknown(3, 402, ['RNG9999']), provenAbsent(3, 601)];
    expect(step(given(accepted(), ...events), 601)).toMatchObject({ do: 'resend', attempt: 4 });
  });

  it('share the time that is left when the first send left late', () => {
    const late = [1601, 1801, 2001].flatMap((start, index) => [
      attempted(index + 2, start),
      unknown(index + 2, start + 1, ['RNG9999']),
      provenAbsent(index + 2, start + 200),
    ]);
    const state = given(accepted(), attempted(1, 1), notSent(1, 2), ...late);
    expect(step(state, 2201)).toEqual({ do: 'wait', until: at(1601 + (3 / 8) * 2000) });
  });

  it('end indeterminate 60 minutes after the last signal, never failed, also after a proven absence', () => {
    const state = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130));
    expect(step(state, 3602)).toMatchObject({
      do: 'conclude',
      verdict: { event: 'IssuanceInterrupted', failedAt: at(3602) },
      lookUpFirst: { attempt: 1 },
    });
  });

  it('start no attempt later than one processing limit after the first', () => {
    const state = given(
      accepted(),
      attempted(1, 1),
      unknown(1, 2),
      provenAbsent(1, 130),
      attempted(2, 3500),
      notSent(2, 3501),
    );
    expect(step(state, 3700)).toEqual({ do: 'wait', until: at(3501 + 3600) });
  });
});

/** The clock of the sending process was three hours ahead, and is set back before anything else happens. */
describe('after the clock was set back', () => {
  const AHEAD = 10_800;
  const sent = attempted(1, AHEAD);
  const undecidedAhead = [AHEAD, AHEAD + 200].flatMap((start, index) => [
    attempted(index + 1, start),
    unknown(index + 1, start + 1, ['RNG9999']),
    provenAbsent(index + 1, start + 190),
  ]);

  it.each([
    ['an attempt without an answer', [sent]],
    ['an unknown answer', [sent, unknown(1, AHEAD + 1)]],
  ])('%s is looked up at once, and then after the usual pauses', (_what, events) => {
    const state = given(accepted(), ...events);
    expect(step(state, 10)).toMatchObject({ do: 'look_up', send: { attempt: 1 } });
    expect(step(state, 69, { asked: 1, lastAskedAt: at(10) })).toEqual({ do: 'wait', until: at(70) });
    expect(step(state, 70, { asked: 1, lastAskedAt: at(10) })).toMatchObject({ do: 'look_up' });
  });

  it.each([
    ['bytes that never left', [sent, notSent(1, AHEAD + 1)]],
    ['a proven absence', [sent, unknown(1, AHEAD + 1), provenAbsent(1, AHEAD + 100)]],
    ['a proven absence of what was undecided again', undecidedAhead],
  ])('the same document is sent again at once after %s', (_what, events) => {
    expect(step(given(accepted(), ...events), 10)).toMatchObject({ do: 'resend' });
  });

  it('the further sends of what stays undecided are spread from the first one by the right clock', () => {
    const events = [...undecidedAhead, attempted(3, 10), unknown(3, 11, ['RNG9999']), provenAbsent(3, 200)];
    expect(step(given(accepted(), ...events), 200)).toEqual({ do: 'wait', until: at(10 + (3 / 8) * 3600) });
  });

  it('no document is sent again before its own stamp, which the authorizer would refuse (E0008)', () => {
    const state = given(accepted({ acceptedAt: at(AHEAD - 5) }), sent, notSent(1, AHEAD + 1));
    expect(step(state, 10)).toEqual({ do: 'wait', until: at(AHEAD - 5) });
  });

  it('the verdict comes when it would have come', () => {
    const state = given(accepted(), sent, unknown(1, AHEAD + 1));
    const lastAskedAt = at(AHEAD + 3600);
    expect(step(state, AHEAD + 3600, { asked: 9, lastAskedAt })).toMatchObject({ do: 'wait' });
    expect(step(state, AHEAD + 3601)).toMatchObject({ do: 'conclude', verdict: { failedAt: at(AHEAD + 3601) } });
  });

  it('instants of a clock that is a minute ahead at most are taken as they are', () => {
    expect(step(given(accepted(), attempted(1, 70)), 10)).toEqual({ do: 'wait', until: at(105) });
    expect(step(given(accepted(), attempted(1, 71)), 10)).toMatchObject({ do: 'look_up' });
  });
});

describe('a foreign note under our DPS id', () => {
  const found = (sameContent: boolean, seconds = 40) =>
    given(accepted(), attempted(1, 1), unknown(1, 2), conflictFound(1, seconds, sameContent));

  it('ends indeterminate when its content is ours: what a look-up would say is known', () => {
    const end = { do: 'conclude', verdict: { event: 'IssuanceInterrupted', failedAt: at(40) } };
    expect(step(found(true), 41)).toEqual(end);
  });

  it('goes on with a new number when its content differs', () => {
    expect(step(found(false), 41)).toEqual({ do: 'send', attempt: 2 });
  });

  it('is not looked up again before the verdict of time', () => {
    expect(step(found(false), 3602)).toEqual({
      do: 'conclude',
      verdict: { event: 'IssuanceInterrupted', failedAt: at(3602) },
    });
  });

  it('gets no new number later than one processing limit after the first attempt', () => {
    const late = given(accepted(), attempted(1, 1), unknown(1, 30), conflictFound(1, 3590));
    expect(step(late, 3600)).toEqual({ do: 'send', attempt: 2 });
    expect(step(late, 3601)).toEqual({ do: 'wait', until: at(3630) });
  });

  it('gets no sixth send', () => {
    const conflicts = (sends: number) =>
      Array.from({ length: sends }, (_unused, i) => i + 1).flatMap((n) => [attempted(n, n), conflictFound(n, n)]);
    expect(step(given(accepted(), ...conflicts(4)), 10)).toEqual({ do: 'send', attempt: 5 });
    expect(step(given(accepted(), ...conflicts(5)), 10)).toEqual({ do: 'wait', until: at(3605) });
  });
});

describe('nothing is left to do', () => {
  it.each([
    ['issued', [accepted(), attempted(1, 1), authorized(1, 2)]],
    ['failed', [accepted(), attempted(1, 1), rejected(1, 2)]],
    ['indeterminate', [accepted(), attempted(1, 1), unknown(1, 2), interrupted]],
    ['not there', []],
  ])('for an invoice that is %s', (_status, events) => {
    expect(step(given(...events), 10)).toEqual({ do: 'nothing' });
    expect(step(given(...events), 10_000)).toEqual({ do: 'nothing' });
  });
});
