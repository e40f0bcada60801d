import { describe, expect, it } from 'vitest';
import { nextIssueStep } from '../../../src/domain/invoice/next-issue-step.js';
import type { InvoiceState } from '../../../src/domain/invoice/state.js';
import { accepted, at, attempted, authorized, given, limits, notSent, provenAbsent, unknown } from './fixtures.js';

const step = (state: InvoiceState, seconds: number, progress = { asked: 0 }) =>
  nextIssueStep(state, at(seconds), limits, progress);

describe('a queued invoice', () => {
  it('is sent', () => {
    expect(step(given(accepted()), 1)).toEqual({ do: 'send', attempt: 1 });
  });

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
    expect(step(state, 36)).toMatchObject({ do: 'look_up', attempt: { attempt: 1 } });
  });

  it('is looked up after the pauses of the configuration, the last one repeating', () => {
    const state = given(accepted(), attempted(1, 1), unknown(1, 2));
    expect(step(state, 3)).toEqual({ do: 'wait', until: at(32) });
    expect(step(state, 32)).toMatchObject({ do: 'look_up' });
    expect(step(state, 40, { asked: 1, lastAskedAt: at(32) } as never)).toEqual({ do: 'wait', until: at(92) });
    expect(step(state, 1200, { asked: 9, lastAskedAt: at(700) } as never)).toEqual({ do: 'wait', until: at(1300) });
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

describe('bytes that may have arrived', () => {
  it('are sent again only after a proven absence', () => {
    const state = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130));
    expect(step(state, 131)).toMatchObject({ do: 'resend', attempt: 2, of: { attempt: 1 } });
  });

  it('are sent at most five times', () => {
    const events = [1, 2, 3, 4, 5].flatMap((n) => [
      attempted(n, n * 200),
      unknown(n, n * 200 + 1),
      provenAbsent(n, n * 200 + 150),
    ]);
    expect(step(given(accepted(), ...events), 1300)).toMatchObject({ do: 'wait' });
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
    expect(step(state, 3700)).toMatchObject({ do: 'wait' });
  });
});

describe('a foreign note under our DPS id', () => {
  const conflict = (sameContent: boolean) => ({
    type: 'NumberConflictFound' as const,
    data: { attempt: 1, dpsId: 'DPS', accessKey: '5'.repeat(50), foundDigest: 'x', sameContent, at: at(40) },
  });

  it('ends indeterminate when its content is ours', () => {
    expect(step(given(accepted(), attempted(1, 1), unknown(1, 2), conflict(true)), 41)).toMatchObject({
      do: 'conclude',
      verdict: { event: 'IssuanceInterrupted' },
    });
  });

  it('goes on with a new number when its content differs', () => {
    expect(step(given(accepted(), attempted(1, 1), unknown(1, 2), conflict(false)), 41)).toEqual({
      do: 'send',
      attempt: 2,
    });
  });
});

it('an outcome leaves nothing to do', () => {
  expect(step(given(accepted(), attempted(1, 1), authorized(1, 2)), 10_000)).toEqual({ do: 'nothing' });
});
