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
    const state = given(...events);
    expect(event.decisionText(decideCanceledElsewhere(state, data(), state))).toBe(expected);
  });

  it('says nothing of an invoice with another note', () => {
    const state = given(...issued);
    expect(decideCanceledElsewhere(state, data({ accessKey: REPLACEMENT }), state)).toEqual({
      refused: 'the event is on another note',
    });
  });

  const failed = [...asked, cancelAttempted(1, 61), event.cancelNotConfirmed(3700)] as const;
  const again = [...failed, event.cancelRequested(3800, 2)] as const;
  const sentOnce = [...asked, cancelAttempted(1, 61)] as const;
  const sentSince: readonly [string, readonly InvoiceEvent[], readonly InvoiceEvent[]][] = [
    ['was requested', issued, asked],
    ['was sent', asked, sentOnce],
    ['was sent again', sentOnce, [...sentOnce, event.cancelNotSent(1, 62), cancelAttempted(2, 63)]],
    ['was requested and sent again', failed, [...again, cancelAttempted(1, 3801, 2)]],
    ['is another one than a log that was set back has', sentOnce, issued],
  ];

  it.each(sentSince)('may be our own where a cancellation %s since the look-up', (_what, before, now) => {
    const decide = (eventType: '101101' | '105104') =>
      event.decisionText(decideCanceledElsewhere(given(...now), data({ eventType }), given(...before)));
    expect(decide('101101')).toBe(
      'a cancellation was requested or sent since the look-up, and the event may be its own',
    );
    expect(decide('105104')).toBe('NoteCanceledElsewhere');
  });

  it('is not our own where no cancellation was requested, then or now', () => {
    const decision = decideCanceledElsewhere(given(...issued), data({ eventType: '101101' }), given(...issued));
    expect(event.decisionText(decision)).toBe('NoteCanceledElsewhere');
  });

  it('is not our own where only an answer came since the look-up', () => {
    const answered = given(...sentOnce, cancelUnknown(1, 62));
    expect(
      event.decisionText(decideCanceledElsewhere(answered, data({ eventType: '101101' }), given(...sentOnce))),
    ).toBe('NoteCanceledElsewhere');
  });

  it('makes an invoice canceled once, whatever was sent since the look-up', () => {
    const confirmed = given(...sentOnce, event.cancelConfirmed(63));
    const decision = decideCanceledElsewhere(confirmed, data({ eventType: '101101' }), given(...issued));
    expect(event.decisionText(decision)).toBe('already so');
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
