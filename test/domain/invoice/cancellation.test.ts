import { describe, expect, it } from 'vitest';
import { nextCancelStep } from '../../../src/domain/invoice/next-cancel-step.js';
import {
  concludeCancellation,
  recordCancelAbsence,
  recordCancelRefusal,
  recordConfirmation,
} from '../../../src/domain/invoice/record-cancellation.js';
import { requestCancellation } from '../../../src/domain/invoice/request-cancellation.js';
import { invoiceView } from '../../../src/domain/invoice/view.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  cancelAttempted,
  cancelRequested,
  given,
  givenInvoice,
  limits,
  unknown,
} from './fixtures.js';

const issued = [accepted(), attempted(1, 1), authorized(1, 2)] as const;
const notConfirmed = {
  type: 'CancellationNotConfirmed' as const,
  data: { request: 1, reason: 'timeout' as const, codes: [], at: at(3700) },
};

describe('requestCancellation', () => {
  it('records the reason, "other" by default, with a text that the layout accepts', () => {
    const decision = requestCancellation(givenInvoice(...issued), { now: at(60) });
    expect(decision).toMatchObject({
      events: [{ type: 'CancellationRequested', data: { request: 1, reason: 'other' } }],
    });
    const text =
      'events' in decision && decision.events[0]?.type === 'CancellationRequested'
        ? decision.events[0].data.description
        : '';
    expect(text.length).toBeGreaterThanOrEqual(15);
  });

  it.each([
    ['nfse.not_cancelable', [accepted()]],
    ['nfse.not_cancelable', [accepted(), attempted(1, 1), unknown(1, 2)]],
    ['nfse.cancel_in_progress', [...issued, cancelRequested(60)]],
    ['nfse.cancel_in_progress', [...issued, cancelRequested(60), notConfirmed]],
  ])('refuses with %s', (refused, events) => {
    expect(requestCancellation(givenInvoice(...events), { now: at(4000) })).toEqual({ refused });
  });

  it('may be tried again in test mode after a failure', () => {
    const events = [accepted({ mode: 'test' }), attempted(1, 1), authorized(1, 2), cancelRequested(60), notConfirmed];
    expect(requestCancellation(givenInvoice(...events), { now: at(4000) })).toMatchObject({
      events: [{ data: { request: 2 } }],
    });
  });
});

describe('the cancellation protocol', () => {
  const pending = [...issued, cancelRequested(60)] as const;

  it('sends, waits for the deadline, looks up', () => {
    expect(nextCancelStep(given(...pending), at(61), limits, { asked: 0 })).toEqual({ do: 'send', attempt: 1 });
    const sent = given(...pending, cancelAttempted(1, 61));
    expect(nextCancelStep(sent, at(62), limits, { asked: 0 })).toEqual({ do: 'wait', until: at(96) });
    expect(nextCancelStep(sent, at(96), limits, { asked: 0 })).toMatchObject({ do: 'look_up' });
  });

  it('ends a refusal at once when nothing earlier may have arrived', () => {
    const sent = given(...pending, cancelAttempted(1, 61));
    expect(recordCancelRefusal(sent, { request: 1, attempt: 1 }, { codes: ['E0822'] }, at(62))).toMatchObject({
      events: [{ type: 'CancellationNotConfirmed', data: { reason: 'refused', codes: ['E0822'] } }],
    });
  });

  it('takes an E0840 and one absence as a refusal by another event', () => {
    const blocked = {
      type: 'CancellationOutcomeUnknown' as const,
      data: { request: 1, attempt: 1, reason: 'x', codes: ['E0840'], at: at(62) },
    };
    const state = given(...pending, cancelAttempted(1, 61), blocked);
    expect(
      recordCancelAbsence(state, { request: 1, attempt: 1, firstAbsentAt: at(92), now: at(92) }, limits),
    ).toMatchObject({
      events: [{ type: 'CancellationNotConfirmed', data: { codes: ['E0840'] } }],
    });
  });

  it('gives up an hour after the last signal, not before', () => {
    const sent = given(...pending, cancelAttempted(1, 61));
    expect(concludeCancellation(sent, at(3660), limits)).toEqual({ stale: 'not due' });
    expect(concludeCancellation(sent, at(3661), limits)).toMatchObject({
      events: [{ type: 'CancellationNotConfirmed' }],
    });
  });

  it('confirms once', () => {
    const data = {
      request: 1,
      eventXmlGzip: 'H4sI',
      eventSha256: 'b'.repeat(64),
      canceledAt: at(63),
      evidence: 'response' as const,
      at: at(63),
    };
    const sent = given(...pending, cancelAttempted(1, 61));
    expect(recordConfirmation(sent, data)).toMatchObject({ events: [{ type: 'CancellationConfirmed' }] });
    const canceled = givenInvoice(...pending, cancelAttempted(1, 61), { type: 'CancellationConfirmed', data });
    expect(recordConfirmation(canceled, data)).toEqual({ events: [] });
    expect(invoiceView(canceled, at(70))).toMatchObject({ status: 'canceled', cancellation: { status: 'succeeded' } });
    expect(invoiceView(canceled, at(70))).not.toHaveProperty('cancelable_until');
  });
});

describe('the message of a failed cancellation', () => {
  const refused = {
    type: 'CancellationNotConfirmed' as const,
    data: { request: 1, reason: 'refused' as const, codes: ['E0822'], at: at(62) },
  };

  it('is generic in live mode', () => {
    const view = invoiceView(givenInvoice(...issued, cancelRequested(60), cancelAttempted(1, 61), refused), at(70));
    expect(view.cancellation).toMatchObject({ status: 'failed', error: { code: 'nfse.cancel_failed' } });
    expect(view.cancellation?.error?.message).not.toContain('E0822');
    expect(view.status).toBe('issued');
  });

  it('names the reason in test mode', () => {
    const events = [
      accepted({ mode: 'test' }),
      attempted(1, 1),
      authorized(1, 2),
      cancelRequested(60),
      cancelAttempted(1, 61),
      refused,
    ];
    expect(invoiceView(givenInvoice(...events), at(70)).cancellation?.error?.message).toContain('E0822');
  });
});
