import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { nextCancelStep } from '../../../src/domain/invoice/next-cancel-step.js';
import type { LookupProgress } from '../../../src/domain/invoice/send-steps.js';
import * as event from '../../support/fixture/invoice.js';

const { at, cancelAbsent, cancelAttempted, cancelNotSent, cancelRequested, cancelUnknown, given, limits } = event;

const issued = [event.accepted(), event.attempted(1, 1), event.authorized(1, 2)] as const;

/** The request comes at 60 s; what follows are its events. */
const pending = (...events: InvoiceEvent[]) => given(...issued, cancelRequested(60), ...events);

const step = (events: InvoiceEvent[], seconds: number, progress: LookupProgress = { asked: 0 }) =>
  nextCancelStep(pending(...events), at(seconds), limits, progress);

describe('a pending cancellation', () => {
  it('is sent once, left alone until the deadline, then looked up', () => {
    expect(step([], 60)).toEqual({ do: 'send', attempt: 1 });
    expect(step([cancelAttempted(1, 61)], 95)).toEqual({ do: 'wait', until: at(96) });
    expect(step([cancelAttempted(1, 61)], 96)).toMatchObject({ do: 'look_up', send: { attempt: 1 } });
  });

  it('waits where the clock of the request was ahead, as its stamp may not be later than its receipt (E1843)', () => {
    expect(step([], 59)).toEqual({ do: 'wait', until: at(60) });
    expect(step([], -7200)).toEqual({ do: 'wait', until: at(60) });
  });

  it('is left alone until its deadline also when an earlier send was looked up', () => {
    const resent = [cancelAttempted(1, 61), cancelUnknown(1, 62), cancelAbsent(1, 200), cancelAttempted(2, 210)];
    expect(step(resent, 244, { asked: 2, lastAskedAt: at(100) })).toEqual({ do: 'wait', until: at(245) });
  });

  it('is looked up one pause after an unclear answer, then a pause apart', () => {
    const unclear = [cancelAttempted(1, 61), cancelUnknown(1, 62, ['E0840'])];
    expect(step(unclear, 91)).toEqual({ do: 'wait', until: at(92) });
    expect(step(unclear, 92)).toMatchObject({ do: 'look_up', send: { attempt: 1, codes: ['E0840'] } });
    expect(step(unclear, 151, { asked: 1, lastAskedAt: at(92) })).toEqual({ do: 'wait', until: at(152) });
    expect(step(unclear, 152, { asked: 1, lastAskedAt: at(92) })).toMatchObject({ do: 'look_up' });
  });

  it.each([
    [1, 1],
    [2, 2],
    [4, 8],
    [7, 60],
  ])('whose bytes never left %i times goes again after %i s', (tries, pause) => {
    const events = Array.from({ length: tries }, (_unused, i) => i + 1).flatMap((n) => [
      cancelAttempted(n, 60 + n),
      cancelNotSent(n, 60 + n),
    ]);
    expect(step(events, 60 + tries + pause - 1)).toEqual({ do: 'wait', until: at(60 + tries + pause) });
    expect(step(events, 60 + tries + pause)).toMatchObject({
      do: 'resend',
      attempt: tries + 1,
      of: { attempt: tries, resolution: 'not_sent' },
    });
  });

  it('whose bytes never left waits from the failure on, not from the attempt', () => {
    const slow = [cancelAttempted(1, 61), cancelNotSent(1, 70)];
    expect(step(slow, 70)).toEqual({ do: 'wait', until: at(71) });
    expect(step(slow, 71)).toMatchObject({ do: 'resend', attempt: 2 });
  });

  it('whose bytes never left waits by the sends not sent in a row, whatever was sent before', () => {
    const events = [
      cancelAttempted(1, 61),
      cancelUnknown(1, 62),
      cancelAbsent(1, 200),
      cancelAttempted(2, 200),
      cancelUnknown(2, 201),
      cancelAbsent(2, 400),
      cancelAttempted(3, 400),
      cancelNotSent(3, 400),
    ];
    expect(step(events, 400)).toEqual({ do: 'wait', until: at(401) });
    expect(step(events, 401)).toMatchObject({ do: 'resend', attempt: 4 });
  });

  it('whose event is proven absent goes again at once, the same bytes', () => {
    expect(step([cancelAttempted(1, 61), cancelUnknown(1, 62), cancelAbsent(1, 200)], 200)).toMatchObject({
      do: 'resend',
      attempt: 2,
      of: { attempt: 1, resolution: 'absent' },
    });
  });

  it('is sent at most five times', () => {
    const rounds = (count: number) =>
      Array.from({ length: count }, (_unused, i) => i + 1).flatMap((n) => [
        cancelAttempted(n, n * 200),
        cancelAbsent(n, n * 200 + 150),
      ]);
    expect(step(rounds(4), 960)).toMatchObject({ do: 'resend', attempt: 5 });
    expect(step(rounds(5), 1200)).toEqual({ do: 'wait', until: at(1000 + 3600) });
  });

  it('starts no send later than one time-out after the first', () => {
    const late = [cancelAttempted(1, 61), cancelAbsent(1, 200), cancelAttempted(2, 3650), cancelNotSent(2, 3655)];
    expect(step(late, 3660)).toMatchObject({ do: 'resend', attempt: 3 });
    expect(step(late, 3661)).toEqual({ do: 'wait', until: at(3655 + 3600) });
  });
});

describe('a pending cancellation always ends', () => {
  it.each<[string, InvoiceEvent[], number]>([
    ['an hour after the request when nothing was sent', [], 3660],
    ['an hour after the send', [cancelAttempted(1, 70)], 3670],
    ['an hour after the first answer', [cancelAttempted(1, 70), cancelUnknown(1, 75)], 3675],
    ['and a look-up prolongs nothing', [cancelAttempted(1, 70), cancelUnknown(1, 75), cancelAbsent(1, 300)], 3675],
  ])('%s', (_what, events, due) => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -3600, max: 3600 }), fc.integer({ min: -2, max: 2 })), (offset) => {
        expect(step(events, due + offset).do === 'conclude').toBe(offset >= 0);
      }),
    );
  });

  it('after one last look-up, also where the log has no send: a log that was restored may have lost it', () => {
    expect(step([], 3660)).toStrictEqual({ do: 'conclude', verdict: 'timeout', lookUpFirst: 'unsent' });
    expect(step([cancelAttempted(1, 70)], 3670)).toMatchObject({ do: 'conclude', lookUpFirst: { attempt: 1 } });
  });
});

describe('no cancellation is under way', () => {
  it.each([
    ['none was asked for', [...issued]],
    ['it succeeded', [...issued, cancelRequested(60), cancelAttempted(1, 61), event.cancelConfirmed(62)]],
    ['it failed', [...issued, cancelRequested(60), cancelAttempted(1, 61), event.cancelNotConfirmed(62, ['E0822'])]],
    ['there is no invoice', []],
    ['the note is imported', [event.imported()]],
  ])('when %s', (_why, events) => {
    for (const seconds of [70, 90_000]) {
      expect(nextCancelStep(given(...events), at(seconds), limits, { asked: 0 })).toEqual({ do: 'nothing' });
    }
  });
});
