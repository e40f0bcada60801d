import { expect, it } from 'vitest';
import type { InvoiceEvent, InvoiceEventData } from '../../../src/domain/invoice/events.js';
import { foldInvoice, type InvoiceFold, noEvents } from '../../../src/domain/log/invoice-fold.js';
import {
  ACCESS_KEY,
  accepted,
  at,
  attempted,
  authorized,
  authorizedData,
  cancelAbsent,
  cancelAttempted,
  cancelConfirmed,
  cancelNotConfirmed,
  cancelNotSent,
  cancelRequested,
  cancelUnknown,
  conflictFound,
  dataOf,
  imported,
  interrupted,
  notSent,
  provenAbsent,
  rejected,
  T0,
  unknown,
} from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';

/** The breach that the last of these events is. Throws when an earlier event is a breach. */
const breachOf = (events: readonly InvoiceEvent[]): string | undefined => {
  let fold: InvoiceFold = noEvents;
  for (const [index, event] of events.entries()) {
    const next = foldInvoice(fold, event);
    if (!('breach' in next)) fold = next;
    else if (index === events.length - 1) return next.breach;
    else throw new Error(`event ${index}: ${next.breach}`);
  }
  return undefined;
};

const attempt = (
  number: number,
  seconds: number,
  changes: Partial<InvoiceEventData<'IssuanceAttempted'>>,
): InvoiceEvent => ({
  type: 'IssuanceAttempted',
  data: { ...dataOf(attempted(number, seconds), 'IssuanceAttempted'), ...changes },
});
const otherDps = (number: number, seconds: number): InvoiceEvent => attempt(number, seconds, { dpsId: 'DPS' });
const conflict = [attempted(1, 1), conflictFound(1, 5)];
const failed: InvoiceEvent = { type: 'IssuanceFailed', data: { failedAt: at(4000), at: at(4000) } };
const notProcessed: InvoiceEvent = { type: 'NotProcessed', data: { failedAt: at(900), at: at(900) } };
const settledAsFailed = (seconds: number): InvoiceEvent => ({
  type: 'IndeterminateResolved',
  data: { as: 'failed', evidence: 'portal', at: at(seconds) },
});
const canceledBySupport: InvoiceEvent = {
  type: 'CancellationSettledBySupport',
  data: { evidence: 'portal', eventXmlGzip: 'H4sI', eventSha256: 'b'.repeat(64), canceledAt: at(50), at: at(60) },
};
const closedBySupport: InvoiceEvent = {
  type: 'CancellationClosedBySupport',
  data: { evidence: 'portal', at: at(310) },
};
const refusedCancellation: InvoiceEvent = {
  type: 'CancellationOutcomeUnknown',
  data: {
    request: 1,
    attempt: 1,
    reason: 'uncatalogued_refusal',
    refused: true,
    codes: [UNCATALOGUED_CODE],
    at: at(7),
  },
};
const ofNote = (accessKey: string, event: InvoiceEvent): InvoiceEvent => {
  const data: object = { ...event.data, accessKey, requestId: `PRE${accessKey}101101` };
  return { ...event, data } as InvoiceEvent;
};
const canceledElsewhere: InvoiceEvent = {
  type: 'NoteCanceledElsewhere',
  data: {
    accessKey: ACCESS_KEY,
    eventType: '101101',
    eventXmlGzip: 'H4sI',
    eventSha256: 'b'.repeat(64),
    canceledAt: at(50),
    at: at(60),
  },
};
const deleted: InvoiceEvent = { type: 'TestInvoiceDeleted', data: { lastHash: 'a'.repeat(64), deletedAt: at(9) } };
const taken: InvoiceEvent = {
  type: 'ReferenceTaken',
  data: { invoiceId: '22222222-2222-4222-8222-222222222222', takenAt: T0 },
};
const askedOnce: InvoiceEvent = {
  type: 'IssuanceProvenAbsent',
  data: { attempt: 1, dpsId: 'DPS', firstAskedAt: at(200), secondAskedAt: at(200), at: at(200) },
};
const refused: InvoiceEvent = {
  type: 'IssuanceOutcomeUnknown',
  data: { attempt: 1, reason: 'uncatalogued_refusal', refused: true, codes: [UNCATALOGUED_CODE], at: at(2) },
};
const provenRejected = (first: number, second: number): InvoiceEvent => ({
  type: 'IssuanceRejected',
  data: { attempt: 1, codes: [UNCATALOGUED_CODE], firstAskedAt: at(first), secondAskedAt: at(second), at: at(second) },
});
const issued = [accepted(), attempted(1, 1), authorized(1, 2)];
const canceling = [...issued, cancelRequested(5), cancelAttempted(1, 6)];
const lostThreeTimes = [1, 2, 3].flatMap((n) => [
  attempted(n, n * 1000),
  unknown(n, n * 1000 + 1),
  provenAbsent(n, n * 1000 + 200),
]);

it.each<[string | undefined, readonly InvoiceEvent[]]>([
  ['the stream begins with neither an acceptance nor an import', [attempted(1, 1)]],
  ['InvoiceAccepted follows the beginning of the invoice', [accepted(), accepted()]],
  ['a test invoice ended twice', [accepted(), deleted, deleted]],
  ['an event follows the end of a test invoice', [accepted(), deleted, attempted(1, 1)]],
  ['an event follows on a reference that another invoice holds', [taken, accepted()]],
  ['attempt 2 follows attempt 0', [accepted(), attempted(2, 1)]],
  ['an attempt while the one before was not settled', [accepted(), attempted(1, 1), attempted(2, 2)]],
  ['an attempt while the one before was not settled', [accepted(), attempted(1, 1), unknown(1, 2), attempted(2, 200)]],
  [undefined, [accepted(), attempted(1, 1), refused, provenRejected(90, 510)]],
  ['a second answer to the same attempt', [accepted(), attempted(1, 1), refused, rejected(1, 510)]],
  ['proven absent by one look-up', [accepted(), attempted(1, 1), refused, provenRejected(90, 90)]],
  ['proven absent by a look-up before the deadline', [accepted(), attempted(1, 1), refused, provenRejected(20, 510)]],
  [
    'called rejected by absences of what was not refused',
    [accepted(), attempted(1, 1), unknown(1, 2), provenRejected(90, 510)],
  ],
  [
    'a refused document proven absent in order to be sent again',
    [accepted(), attempted(1, 1), refused, provenAbsent(1, 200)],
  ],
  ['an attempt after the outcome', [...issued, attempted(2, 5)]],
  ['an attempt after the outcome', [imported(), attempted(1, 5)]],
  ['a further attempt with another DPS', [accepted(), attempted(1, 1), notSent(1, 2), attempt(2, 3, { dpsId: 'DPS' })]],
  ['the DPS of a number conflict was sent again', [accepted(), attempted(1, 1), conflictFound(1, 5), attempted(2, 6)]],
  ['an attempt whose deadline is not after it', [accepted(), attempt(1, 1, { deadlineAt: at(1) })]],
  ['an answer to an attempt that is not the last one', [accepted(), notSent(1, 2)]],
  [
    'an answer to an attempt that is not the last one',
    [accepted(), attempted(1, 1), notSent(1, 2), attempted(2, 3), notSent(1, 4)],
  ],
  ['a second answer to the same attempt', [accepted(), attempted(1, 1), unknown(1, 2), notSent(1, 3)]],
  ['an answer after the outcome', [...issued, unknown(1, 5)]],
  ['proven absent after it was settled', [accepted(), attempted(1, 1), notSent(1, 2), provenAbsent(1, 200)]],
  [
    'proven absent although the authorizer said that this DPS exists',
    [accepted(), attempted(1, 1), unknown(1, 2, ['E0014']), provenAbsent(1, 200)],
  ],
  [
    'proven absent although the authorizer said that this DPS exists',
    [accepted(), attempted(1, 1), notSent(1, 2), attempted(2, 3), unknown(2, 4, ['E0014']), provenAbsent(2, 200)],
  ],
  ['proven absent by a look-up before the deadline', [accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 70)]],
  ['proven absent by one look-up', [accepted(), attempted(1, 1), askedOnce]],
  ['a note of an attempt that was never made', [accepted(), authorized(1, 2)]],
  ['a note of an attempt that was never made', [accepted(), attempted(1, 1), authorized(2, 2)]],
  ['a second outcome', [...issued, authorized(1, 3)]],
  [
    'called failed although an earlier attempt may have left a note',
    [accepted(), attempted(1, 1), provenAbsent(1, 200), attempted(2, 201), rejected(2, 202)],
  ],
  ['called failed although an attempt was not proven unsent', [accepted(), attempted(1, 1), unknown(1, 2), failed]],
  [
    'called failed although an earlier attempt may have left a note',
    [accepted(), attempted(1, 1), conflictFound(1, 5, true), otherDps(2, 6), rejected(2, 7)],
  ],
  [
    'called failed although an earlier attempt may have left a note',
    [
      accepted(),
      attempted(1, 1),
      notSent(1, 2),
      conflictFound(1, 5),
      otherDps(2, 6),
      provenAbsent(2, 200),
      otherDps(3, 201),
      rejected(3, 202),
    ],
  ],
  ['called failed after a number conflict without a new number', [accepted(), ...conflict, failed]],
  ['called failed although an attempt was not proven unsent', [accepted(), ...conflict, otherDps(2, 6), failed]],
  ['called not processed although an attempt was made', [accepted(), attempted(1, 1), notProcessed]],
  ['called indeterminate although no attempt was made', [accepted(), interrupted]],
  ['settled by support although it was not indeterminate', [...issued, settledAsFailed(90_000)]],
  [
    'settled as failed less than 24 hours after its last attempt',
    [accepted(), attempted(1, 1), interrupted, settledAsFailed(86_400)],
  ],
  ['a cancellation of what was not issued', [accepted(), cancelRequested(5)]],
  ['a cancellation while another one stands', [...issued, cancelRequested(5), cancelRequested(6, 2)]],
  ['a cancellation while another one stands', [imported({ state: 'canceled' }), cancelRequested(5)]],
  ['request 2 follows request 0', [...issued, cancelRequested(5, 2)]],
  ['a cancellation settled by support although there was none to settle', [accepted(), canceledBySupport]],
  ['a cancellation closed by support that had not failed', [...canceling, closedBySupport]],
  ['a word on a cancellation that is not under way', [...issued, cancelConfirmed(6)]],
  ['a word on a cancellation that is not under way', [...canceling, cancelConfirmed(7), cancelNotSent(1, 8)]],
  ['a cancellation attempt out of order', [...issued, cancelRequested(5), cancelAttempted(2, 6)]],
  ['a cancellation attempt while the one before was not settled', [...canceling, cancelAttempted(2, 8)]],
  [
    'more than 5 cancellation attempts that left',
    [
      ...issued,
      cancelRequested(5),
      ...[1, 2, 3, 4, 5].flatMap((attempt) => [
        cancelAttempted(attempt, attempt * 200),
        cancelAbsent(attempt, attempt * 200 + 150),
      ]),
      cancelAttempted(6, 1_200),
    ],
  ],
  [
    'a refused cancellation proven absent in order to be sent again',
    [...canceling, refusedCancellation, cancelAbsent(1, 200)],
  ],
  ['a second answer to a cancellation attempt', [...canceling, cancelUnknown(1, 7), cancelNotSent(1, 8)]],
  ['a cancellation proven absent after it was settled', [...canceling, cancelNotSent(1, 7), cancelAbsent(1, 200)]],
  ['a cancellation proven absent without two look-ups after the deadline', [...canceling, cancelAbsent(1, 90)]],
  ['a note canceled elsewhere that was not issued', [accepted(), canceledElsewhere]],
  ['the cancellation elsewhere of another note', [...issued, ofNote('4'.repeat(50), canceledElsewhere)]],
  [
    'a cancellation attempt on another note',
    [...issued, cancelRequested(5), ofNote('4'.repeat(50), cancelAttempted(1, 6))],
  ],
  ['a note canceled elsewhere that was canceled before', [...canceling, cancelConfirmed(7), canceledElsewhere]],
  ['a note canceled elsewhere that was canceled before', [...issued, canceledElsewhere, canceledElsewhere]],
  ['a word on a cancellation that is not under way', [...canceling, canceledElsewhere, cancelConfirmed(70)]],
  ['a cancellation while another one stands', [...issued, canceledElsewhere, cancelRequested(70)]],
  // No breach.
  [undefined, [taken, deleted]],
  [undefined, [accepted(), notProcessed]],
  [undefined, [accepted(), attempted(1, 1), notSent(1, 2), failed]],
  [undefined, [accepted(), attempted(1, 1), notSent(1, 2), interrupted]],
  [undefined, [accepted(), attempted(1, 1), rejected(1, 2)]],
  [undefined, [accepted(), { type: 'Authorized', data: { ...authorizedData(1, 2), attemptLost: true } }]],
  [undefined, [accepted(), ...conflict, otherDps(2, 6), authorized(2, 7)]],
  [undefined, [accepted(), ...conflict, otherDps(2, 6), rejected(2, 7)]],
  [undefined, [accepted(), ...conflict, otherDps(2, 6), notSent(2, 7), failed]],
  [undefined, [accepted(), attempted(1, 1), interrupted, settledAsFailed(86_401)]],
  [undefined, [accepted(), ...lostThreeTimes, interrupted]],
  [undefined, [...canceling, cancelAbsent(1, 200), cancelAttempted(2, 201), cancelNotConfirmed(300)]],
  [undefined, [...canceling, cancelNotConfirmed(300), cancelRequested(400, 2), cancelAttempted(1, 401, 2)]],
  [undefined, [...canceling, cancelNotConfirmed(300), canceledBySupport]],
  [undefined, [...canceling, cancelNotConfirmed(300), closedBySupport]],
  [undefined, [...canceling, cancelNotConfirmed(300), closedBySupport, canceledBySupport]],
  [undefined, [...issued, canceledElsewhere]],
  [undefined, [imported(), canceledElsewhere]],
  [undefined, [...canceling, canceledElsewhere]],
  [undefined, [...canceling, cancelNotConfirmed(300), canceledElsewhere]],
])('the auditor says %j of the last event', (breach, events) => {
  expect(breachOf(events)).toBe(breach);
});

it('judges no event after a breach', () => {
  const fold: InvoiceFold = { kind: 'not judged' };
  expect(foldInvoice(fold, attempted(9, 1))).toBe(fold);
});
