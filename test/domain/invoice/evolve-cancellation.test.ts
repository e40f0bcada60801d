import { describe, expect, it } from 'vitest';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { Cancellation } from '../../../src/domain/invoice/state.js';
import { codesOfFailedCancellation, invoiceStatus } from '../../../src/domain/invoice/status.js';
import * as event from '../../support/fixture/invoice.js';

const { at, cancelAbsent, cancelAttempted, cancelNotSent, cancelUnknown, givenInvoice } = event;

const issued = [event.accepted({ mode: 'test' }), event.attempted(1, 1), event.authorized(1, 2)] as const;
const asked = [...issued, event.cancelRequested(60)] as const;

const folded = (...events: InvoiceEvent[]): Cancellation | undefined => givenInvoice(...asked, ...events).cancellation;

const requested = { request: 1, status: 'pending', reason: 'other', requestedAt: at(60), sends: [], codes: [] };
const send = {
  attempt: 1,
  requestId: `PRE${event.ACCESS_KEY}101101`,
  digest: 'cancel-digest',
  attemptedAt: at(61),
  deadlineAt: at(96),
  codes: [],
};
const sent = cancelAttempted(1, 61);

describe('a cancellation', () => {
  it('begins pending, with the reason and nothing sent', () => {
    expect(folded()).toEqual(requested);
  });

  it.each<[string, InvoiceEvent[], object]>([
    ['open', [], { resolution: 'open' }],
    ['not sent', [cancelNotSent(1, 62)], { resolution: 'not_sent', answeredAt: at(62), resolvedAt: at(62) }],
    [
      'unknown',
      [cancelUnknown(1, 62, ['E0840'])],
      { resolution: 'unknown', answeredAt: at(62), resolvedAt: at(62), codes: ['E0840'], undecided: true },
    ],
    [
      'named canceled',
      [event.cancelNamed(1, 62, '105102')],
      {
        resolution: 'unknown',
        answeredAt: at(62),
        resolvedAt: at(62),
        codes: ['E0840'],
        undecided: true,
        namedEvent: '105102',
      },
    ],
    ['absent', [cancelAbsent(1, 200)], { resolution: 'absent', resolvedAt: at(200) }],
  ])('has a send that is %s', (_what, events, known) => {
    expect(folded(sent, ...events)).toEqual({ ...requested, sends: [{ ...send, ...known }] });
  });

  it('has several sends, each with its own end', () => {
    const sends = folded(sent, cancelNotSent(1, 62), cancelAttempted(2, 64), cancelUnknown(2, 65))?.sends ?? [];
    expect(sends.map(({ attempt, resolution }) => [attempt, resolution])).toEqual([
      [1, 'not_sent'],
      [2, 'unknown'],
    ]);
  });
});

describe('the end of a cancellation', () => {
  it('is the confirmation, dated by the authorizer', () => {
    expect(folded(sent, event.cancelConfirmed(63))).toMatchObject({ status: 'succeeded', canceledAt: at(63) });
  });

  it('is what support has proved, also after a failure', () => {
    const settled: InvoiceEvent = {
      type: 'CancellationSettledBySupport',
      data: { evidence: 'e', eventXmlGzip: 'H4sI', eventSha256: 'b'.repeat(64), canceledAt: at(70), at: at(9000) },
    };
    const invoice = givenInvoice(...asked, sent, event.cancelNotConfirmed(3661), settled);
    expect(invoice.cancellation).toMatchObject({ status: 'succeeded', canceledAt: at(70) });
    expect(invoiceStatus(invoice)).toBe('canceled');
  });

  it('is a failure that closes an open send as unknown', () => {
    expect(folded(sent, event.cancelNotConfirmed(62, ['E0822']))).toEqual({
      ...requested,
      status: 'failed',
      codes: ['E0822'],
      sends: [{ ...send, resolution: 'unknown', resolvedAt: at(62) }],
    });
  });

  it('is a failure that leaves earlier and settled sends as they are', () => {
    const sends = folded(
      sent,
      cancelNotSent(1, 62),
      cancelAttempted(2, 64),
      cancelAbsent(2, 200),
      event.cancelNotConfirmed(3664),
    )?.sends;
    expect(sends).toMatchObject([
      { resolution: 'not_sent', resolvedAt: at(62) },
      { resolution: 'absent', resolvedAt: at(200) },
    ]);
  });

  it('may come before anything was sent', () => {
    expect(folded(event.cancelNotConfirmed(3660))).toEqual({ ...requested, status: 'failed' });
  });
});

describe('a new request', () => {
  it('starts again, whatever became of the one before', () => {
    const failed = [sent, event.cancelNotConfirmed(62, ['E0822'])];
    expect(folded(...failed, event.cancelRequested(100, 2))).toEqual({
      ...requested,
      request: 2,
      requestedAt: at(100),
    });
  });

  it('must come before everything else of a cancellation', () => {
    expect(() => givenInvoice(...issued, sent)).toThrow('CancellationAttempted before CancellationRequested');
  });
});

describe('the codes that explain a failed cancellation', () => {
  const unknown = cancelUnknown(1, 62, ['E0802']);
  const absent = [unknown, cancelAbsent(1, 200)] as const;
  it.each<[string, InvoiceEvent[], readonly string[]]>([
    ['nothing sent', [event.cancelNotConfirmed(300)], []],
    ['a refusal', [sent, event.cancelNotConfirmed(300, ['E0822'])], ['E0822']],
    ['a refusal after another answer', [sent, unknown, event.cancelNotConfirmed(300, ['E0822'])], ['E0822']],
    ['time', [sent, event.cancelNotConfirmed(300)], []],
    ['time, after an answer', [sent, unknown, event.cancelNotConfirmed(300)], ['E0802']],
    ['time, after an answer that look-ups refuted', [sent, ...absent, event.cancelNotConfirmed(300)], []],
    [
      'time, after a lost answer to the next send',
      [sent, ...absent, cancelAttempted(2, 210), event.cancelNotConfirmed(300)],
      [],
    ],
  ])('%s', (_what, events, codes) => {
    const cancellation = folded(...events);
    expect(cancellation?.status).toBe('failed');
    expect(cancellation && codesOfFailedCancellation(cancellation)).toEqual(codes);
  });
});
