import { describe, expect, it } from 'vitest';
import { transliterate } from '../../../src/domain/dps/transliterate.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import {
  type CancelRefusal,
  cancelableUntil,
  MAX_CANCEL_REQUESTS,
  requestCancellation,
} from '../../../src/domain/invoice/request-cancellation.js';
import * as event from '../../support/fixture/invoice.js';

const { accepted, at, attempted, authorized, givenInvoice } = event;

const issuedIn = (mode: 'live' | 'test') => [accepted({ mode }), attempted(1, 1), authorized(1, 2)];
const issued = issuedIn('live');
/** Of a test invoice, with the number of its newest request. */
const failedRequest = (request: number): readonly InvoiceEvent[] => [
  ...issuedIn('test'),
  event.cancelRequested(60, request),
  { type: 'CancellationNotConfirmed', data: { request, reason: 'refused', codes: ['E0822'], at: at(63) } },
];
const AFTER_THE_MONTH = '2026-12-01T03:00:00.000Z';

describe('a request to cancel', () => {
  it.each([
    [{}, 'other', 'Cancelamento solicitado pelo prestador do serviço.'],
    [{ reason: 'issuance_error' as const }, 'issuance_error', 'Cancelamento por erro na emissão da nota.'],
    [{ reason: 'service_not_provided' as const }, 'service_not_provided', 'Cancelamento por serviço não prestado.'],
    [{ description: 'O cliente desistiu do serviço.' }, 'other', 'O cliente desistiu do serviço.'],
  ])('with %j is recorded with a reason and a text', (sent, reason, description) => {
    expect(requestCancellation(givenInvoice(...issued), { ...sent, now: at(60) })).toEqual({
      events: [{ type: 'CancellationRequested', data: { request: 1, reason, description, requestedAt: at(60) } }],
    });
    expect(transliterate(description)?.length).toBeGreaterThanOrEqual(15);
  });

  it('is numbered on from the one that failed', () => {
    const failed = [...issuedIn('test'), event.cancelRequested(60), event.cancelNotConfirmed(3660)];
    expect(requestCancellation(givenInvoice(...failed), { now: at(4000) })).toMatchObject({
      events: [{ data: { request: 2 } }],
    });
  });
});

/** The refusals in the order of CANCEL-3. The first that applies is answered. */
const refusals: readonly [string, readonly InvoiceEvent[], string, CancelRefusal | undefined][] = [
  ['issued, in its month', issued, at(60), undefined],
  ['issued, in an earlier month', issued, AFTER_THE_MONTH, 'nfse.cancel_window_closed'],
  ['queued', [accepted()], at(60), 'nfse.not_cancelable'],
  ['processing', [accepted(), attempted(1, 1)], at(60), 'nfse.not_cancelable'],
  ['failed', [accepted(), attempted(1, 1), event.rejected(1, 2)], at(60), 'nfse.not_cancelable'],
  ['indeterminate', [accepted(), attempted(1, 1), event.interrupted], at(4000), 'nfse.not_cancelable'],
  [
    'failed, in an earlier month',
    [accepted(), event.attempted(1, 1), event.rejected(1, 2)],
    AFTER_THE_MONTH,
    'nfse.not_cancelable',
  ],
  ['being canceled', [...issued, event.cancelRequested(60)], at(61), 'nfse.cancel_in_progress'],
  [
    'being canceled as the month ends',
    [...issued, event.cancelRequested(60)],
    AFTER_THE_MONTH,
    'nfse.cancel_in_progress',
  ],
  [
    'live, its cancellation failed',
    [...issued, event.cancelRequested(60), event.cancelNotConfirmed(3660)],
    ...([at(4000), 'nfse.cancel_in_progress'] as const),
  ],
  [
    'test, its cancellation failed',
    [...issuedIn('test'), event.cancelRequested(60), event.cancelNotConfirmed(3660)],
    ...([at(4000), undefined] as const),
  ],
  ['test, its last but one cancellation failed', failedRequest(MAX_CANCEL_REQUESTS - 1), at(4000), undefined],
  ['test, its last cancellation failed', failedRequest(MAX_CANCEL_REQUESTS), at(4000), 'nfse.not_cancelable'],
  [
    'test, its last cancellation failed, in an earlier month',
    failedRequest(MAX_CANCEL_REQUESTS),
    ...([AFTER_THE_MONTH, 'nfse.cancel_window_closed'] as const),
  ],
  ['canceled', [...issued, event.cancelRequested(60), event.cancelConfirmed(63)], at(70), 'nfse.already_canceled'],
  [
    'canceled in an earlier month',
    [...issued, event.cancelRequested(60), event.cancelConfirmed(63)],
    ...([AFTER_THE_MONTH, 'nfse.already_canceled'] as const),
  ],
];

describe('a cancel of an invoice that is', () => {
  it.each(refusals)('%s', (_status, events, now, refused) => {
    const decision = requestCancellation(givenInvoice(...events), { now });
    if (refused === undefined) expect(decision).toMatchObject({ events: [{ type: 'CancellationRequested' }] });
    else expect(decision).toEqual({ refused });
  });

  it.each(refusals)('%s agrees with cancelable_until', (_status, events, now, refused) => {
    const until = refused === undefined ? '2026-12-01T02:59:59.000Z' : undefined;
    expect(cancelableUntil(givenInvoice(...events), now)).toBe(until);
  });
});
