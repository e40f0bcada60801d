import { describe, expect, it } from 'vitest';
import { decideCanceledElsewhere } from '../../../src/domain/invoice/decide-cancellation.js';
import type { InvoiceEvent, InvoiceEventData } from '../../../src/domain/invoice/events.js';
import { nextCancelStep } from '../../../src/domain/invoice/next-cancel-step.js';
import { cancelableUntil, cancelRefusal } from '../../../src/domain/invoice/request-cancellation.js';
import { decideAnswer, decideAttempt } from '../../../src/domain/invoice/send-decisions.js';
import { canceledAt, invoiceStatus, isReplaced } from '../../../src/domain/invoice/status.js';
import * as event from '../../support/fixture/invoice.js';

const { ACCESS_KEY, at, cancelAttempted, cancelUnknown, given, givenInvoice, limits } = event;

const issued = [event.accepted(), event.attempted(1, 1), event.authorized(1, 2)] as const;
const asked = [...issued, event.cancelRequested(60)] as const;
const REPLACEMENT = '33045572212345678000195000000000014926082012345679';

const data = (
  overrides: Partial<InvoiceEventData<'NoteCanceledElsewhere'>> = {},
): InvoiceEventData<'NoteCanceledElsewhere'> => ({
  accessKey: ACCESS_KEY,
  eventType: '305101',
  eventXmlGzip: 'H4sI',
  eventSha256: 'b'.repeat(64),
  canceledAt: at(50),
  at: at(300),
  ...overrides,
});

const elsewhere: InvoiceEvent = { type: 'NoteCanceledElsewhere', data: data() };

describe('an event of another party that cancels the note', () => {
  it.each<[string, readonly InvoiceEvent[], string]>([
    ['nothing', [], 'only an issued note can be canceled'],
    ['an open invoice', [event.accepted()], 'only an issued note can be canceled'],
    ['an issued one', issued, 'NoteCanceledElsewhere'],
    ['one whose cancellation was asked for', asked, 'NoteCanceledElsewhere'],
    ['one whose cancellation was sent', [...asked, cancelAttempted(1, 61)], 'NoteCanceledElsewhere'],
    ['one whose cancellation failed', [...asked, event.cancelNotConfirmed(63)], 'NoteCanceledElsewhere'],
    ['one that our request canceled', [...asked, cancelAttempted(1, 61), event.cancelConfirmed(63)], 'already so'],
    ['one that is known as canceled elsewhere', [...issued, elsewhere], 'already so'],
    ['an imported one', [event.imported()], 'NoteCanceledElsewhere'],
    ['an imported one that was canceled', [event.imported({ state: 'canceled' })], 'already so'],
    ['an imported one that was replaced', [event.imported({ state: 'replaced' })], 'it is known as replaced'],
  ])('given %s', (_what, events, expected) => {
    expect(event.decisionText(decideCanceledElsewhere(given(...events), data()))).toBe(expected);
  });

  it('says nothing of an invoice with another note', () => {
    expect(decideCanceledElsewhere(given(...issued), data({ accessKey: REPLACEMENT }))).toEqual({
      refused: 'the event is on another note',
    });
  });

  it('makes the invoice canceled, without a cancellation when nobody asked for one', () => {
    const invoice = givenInvoice(...issued, elsewhere);
    expect([invoiceStatus(invoice), canceledAt(invoice), invoice.cancellation]).toEqual([
      'canceled',
      at(50),
      undefined,
    ]);
    expect(isReplaced(invoice)).toBe(false);
    expect(cancelRefusal(invoice, at(400))).toBe('nfse.already_canceled');
    expect(cancelableUntil(invoice, at(400))).toBeUndefined();
  });

  it.each<[string, readonly InvoiceEvent[]]>([
    ['is pending', [...asked, cancelAttempted(1, 61)]],
    ['has failed', [...asked, cancelAttempted(1, 61), event.cancelNotConfirmed(3700)]],
  ])('lets our request succeed that %s', (_what, events) => {
    const invoice = givenInvoice(...events, elsewhere);
    expect(invoiceStatus(invoice)).toBe('canceled');
    expect(invoice.cancellation).toMatchObject({ status: 'succeeded', canceledAt: at(50) });
    expect(nextCancelStep(invoice, at(400), limits, { asked: 0 })).toEqual({ do: 'nothing' });
  });

  it('leaves no room for a later word on our request', () => {
    const state = given(...asked, cancelAttempted(1, 61), elsewhere);
    const refused = { refused: 'no such pending cancellation' };
    expect(decideAnswer(state, cancelUnknown(1, 70))).toEqual(refused);
    expect(decideAttempt(state, cancelAttempted(2, 70))).toEqual(refused);
  });

  it('names the note that replaces this one', () => {
    const substitution = data({ eventType: '105102', replacedBy: REPLACEMENT });
    const invoice = givenInvoice(...issued, { type: 'NoteCanceledElsewhere', data: substitution });
    expect(invoice.canceledElsewhere).toEqual({ eventType: '105102', canceledAt: at(50), replacedBy: REPLACEMENT });
    expect([invoiceStatus(invoice), isReplaced(invoice)]).toEqual(['canceled', true]);
  });
});
