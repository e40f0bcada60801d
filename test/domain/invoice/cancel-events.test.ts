import { describe, expect, it } from 'vitest';
import {
  decideCancelAbsence,
  decideCancelRejection,
  decideConfirmed,
  decideTimeout,
} from '../../../src/domain/invoice/decide-cancellation.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { nextCancelStep } from '../../../src/domain/invoice/next-cancel-step.js';
import { decideAnswer, decideAttempt } from '../../../src/domain/invoice/send-decisions.js';
import * as event from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';

const { at, cancelAbsent, cancelAttempted, cancelNamed, cancelNotSent, cancelUnknown, given, limits } = event;

const asked = [event.accepted(), event.attempted(1, 1), event.authorized(1, 2), event.cancelRequested(60)] as const;
const pending = (...events: InvoiceEvent[]) => given(...asked, ...events);
const sent = cancelAttempted(1, 61);

const notConfirmed = (data: object) => ({
  events: [{ type: 'CancellationNotConfirmed', data: { request: 1, ...data } }],
});
const blocked = (seconds: number, codes = ['E0840']) => notConfirmed({ reason: 'refused', codes, at: at(seconds) });

describe('what is recorded of a cancellation', () => {
  it.each([
    ['send', () => decideAttempt(pending(), sent), sent],
    ['failure to send', () => decideAnswer(pending(sent), cancelNotSent(1, 62)), cancelNotSent(1, 62)],
    ['confirmation', () => decideConfirmed(pending(sent), event.confirmationData(63)), event.cancelConfirmed(63)],
  ])('%s is all that the sender knows', (_what, decide, recorded) => {
    expect(decide()).toEqual({ events: [recorded] });
  });

  it('refusal are the authorizer’s codes and words', () => {
    const answer = { codes: ['E0822'], httpStatus: 400, texts: ['prazo'] };
    expect(decideCancelRejection(pending(sent), { request: 1, attempt: 1 }, answer, at(62))).toEqual(
      notConfirmed({ reason: 'refused', ...answer, at: at(62) }),
    );
  });

  it('a time-out has no code, and its instant is that of the sweep', () => {
    expect(decideTimeout(pending(), at(3659), limits, false)).toEqual({ refused: 'not due' });
    expect(decideTimeout(pending(), at(3660), limits, false)).toEqual(
      notConfirmed({ reason: 'timeout', codes: [], at: at(3660) }),
    );
  });
});

describe('a refusal after a send that may have arrived', () => {
  it('is evidence at first, and look-ups follow', () => {
    const resent = pending(sent, cancelUnknown(1, 62), cancelAbsent(1, 200), cancelAttempted(2, 201));
    expect(decideCancelRejection(resent, { request: 1, attempt: 2 }, { codes: ['E0822'] }, at(202))).toEqual({
      events: [
        {
          type: 'CancellationOutcomeUnknown',
          data: {
            request: 1,
            attempt: 2,
            reason: 'refused after an unknown attempt',
            codes: ['E0822'],
            at: at(202),
          },
        },
      ],
    });
  });

  const refusedThen = (...more: InvoiceEvent[]) =>
    pending(
      sent,
      cancelUnknown(1, 62),
      cancelAbsent(1, 200),
      cancelAttempted(2, 201),
      event.cancelRefusedAfterOthers(2, 202, ['E0822']),
      ...more,
    );
  const absent = (first: number, now: number) => ({
    request: 1,
    attempt: 2,
    firstAbsentAt: at(first),
    now: at(now),
    answer: { httpStatus: 400 },
  });

  it('becomes final by two absences as far apart as after an uncatalogued refusal, because every send has the same content', () => {
    expect(decideCancelAbsence(refusedThen(), absent(235, 600), limits)).toEqual({
      refused: 'the proof is not complete',
    });
    expect(decideCancelAbsence(refusedThen(), absent(236, 535), limits)).toEqual({
      refused: 'the proof is not complete',
    });
    expect(decideCancelAbsence(refusedThen(), absent(236, 536), limits)).toEqual(
      notConfirmed({
        reason: 'refused',
        codes: ['E0822'],
        httpStatus: 400,
        firstAskedAt: at(236),
        secondAskedAt: at(536),
        at: at(536),
      }),
    );
  });

  it('is sent again where its absence was recorded as that of an unknown answer', () => {
    expect(nextCancelStep(refusedThen(cancelAbsent(2, 350)), at(350), limits, { asked: 0 })).toMatchObject({
      do: 'resend',
      attempt: 3,
    });
  });

  it('but not after one that never left', () => {
    const resent = pending(sent, cancelNotSent(1, 62), cancelAttempted(2, 64));
    expect(decideCancelRejection(resent, { request: 1, attempt: 2 }, { codes: ['E0822'] }, at(65))).toEqual(
      notConfirmed({ reason: 'refused', codes: ['E0822'], at: at(65) }),
    );
  });
});

describe('the event is not there', () => {
  const absence = (events: InvoiceEvent[], attempt: number, first: number, now: number) =>
    decideCancelAbsence(pending(...events), { request: 1, attempt, firstAbsentAt: at(first), now: at(now) }, limits);

  it('proven by two look-ups after the deadline, far enough apart', () => {
    const unclear = [sent, cancelUnknown(1, 62)];
    expect(absence(unclear, 1, 95, 400)).toEqual({ refused: 'the proof is not complete' });
    expect(absence(unclear, 1, 96, 155)).toEqual({ refused: 'the proof is not complete' });
    expect(absence(unclear, 1, 96, 156)).toEqual({
      events: [
        {
          type: 'CancellationProvenAbsent',
          data: { request: 1, attempt: 1, firstAskedAt: at(96), secondAskedAt: at(156), at: at(156) },
        },
      ],
    });
  });

  it('after an E0840: another event blocks the note, and one look-up is enough', () => {
    expect(absence([sent, cancelUnknown(1, 62, ['E0840'])], 1, 92, 92)).toEqual(blocked(92));
  });

  it('after an E0840 beside other codes: the refusal keeps them', () => {
    const codes = ['E0822', 'E0840'];
    expect(absence([sent, cancelUnknown(1, 62, codes)], 1, 92, 92)).toEqual(blocked(92, codes));
    const second = [sent, cancelAbsent(1, 200), cancelAttempted(2, 201), cancelUnknown(2, 202, codes)];
    expect(absence(second, 2, 240, 300)).toEqual(blocked(300, codes));
  });

  it('after a refusal with an uncatalogued code, where an earlier send may have arrived: nothing is settled', () => {
    const { type, data } = cancelUnknown(2, 202, [UNCATALOGUED_CODE]);
    const refused = { type, data: { ...data, refused: true as const } };
    const events = [sent, cancelUnknown(1, 62), cancelAbsent(1, 200), cancelAttempted(2, 201), refused];
    expect(absence(events, 2, 240, 600)).toEqual({ refused: 'it was refused, and an earlier send may have arrived' });
  });

  it('after an E0840 that names an event which cancels the note: nothing is settled, and nothing is sent again', () => {
    const named = { refused: 'the authorizer named an event that cancels the note' };
    expect(absence([sent, cancelNamed(1, 62)], 1, 92, 92)).toEqual(named);
    expect(absence([sent, cancelNamed(1, 62)], 1, 96, 1_200)).toEqual(named);
    const resent = [sent, cancelUnknown(1, 62), cancelAbsent(1, 200), cancelAttempted(2, 201)];
    expect(absence([...resent, cancelNamed(2, 202, '305101')], 2, 240, 1_200)).toEqual(named);
    expect(decideTimeout(pending(sent, cancelNamed(1, 62)), at(3_662), limits, false)).toEqual(
      notConfirmed({ reason: 'timeout', codes: [], at: at(3_662) }),
    );
  });

  it('after an E0840: a look-up by a clock that was set back since the answer proves nothing', () => {
    expect(absence([sent, cancelUnknown(1, 10_800, ['E0840'])], 1, 92, 92)).toEqual({
      refused: 'the proof is not complete',
    });
  });

  it('after an E0840 on the second send, the first never having left: one look-up is enough', () => {
    const events = [sent, cancelNotSent(1, 62), cancelAttempted(2, 64), cancelUnknown(2, 65, ['E0840'])];
    expect(absence(events, 2, 95, 95)).toEqual(blocked(95));
  });

  it('after an E0840 when an earlier send may have arrived: only the whole proof refuses', () => {
    const events = [
      sent,
      cancelUnknown(1, 62),
      cancelAbsent(1, 200),
      cancelAttempted(2, 201),
      cancelUnknown(2, 202, ['E0840']),
    ];
    expect(absence(events, 2, 232, 232)).toEqual({ refused: 'the proof is not complete' });
    expect(absence(events, 2, 240, 299)).toEqual({ refused: 'the proof is not complete' });
    expect(absence(events, 2, 240, 300)).toEqual(blocked(300));
  });

  it('after an E0840 on a second request: the event may be that of the first request, so only the whole proof refuses', () => {
    const second = pending(
      sent,
      cancelUnknown(1, 62),
      event.cancelNotConfirmed(3_660),
      event.cancelRequested(3_700, 2),
      cancelAttempted(1, 3_701, 2),
      cancelUnknown(1, 3_702, ['E0840'], 2),
    );
    const absent = (first: number, now: number) =>
      decideCancelAbsence(second, { request: 2, attempt: 1, firstAbsentAt: at(first), now: at(now) }, limits);
    expect(absent(3_732, 3_732)).toEqual({ refused: 'the proof is not complete' });
    expect(absent(3_736, 3_796)).toMatchObject({
      events: [{ type: 'CancellationNotConfirmed', data: { request: 2, reason: 'refused', codes: ['E0840'] } }],
    });
  });

  it('after another code than E0840: no refusal, however often', () => {
    expect(absence([sent, cancelUnknown(1, 62, ['E0500'])], 1, 96, 96)).toEqual({
      refused: 'the proof is not complete',
    });
    expect(absence([sent], 1, 96, 96)).toEqual({ refused: 'the proof is not complete' });
  });
});
