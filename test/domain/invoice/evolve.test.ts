import { describe, expect, it } from 'vitest';
import type { InvoiceEvent, InvoiceEventData } from '../../../src/domain/invoice/events.js';
import type { IssueAttempt } from '../../../src/domain/invoice/state.js';
import * as event from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';

const { accepted, at, attempted, given, givenInvoice, notSent, provenAbsent, refusedAfterOthers, unknown } = event;

const attemptAfter = (...events: InvoiceEvent[]): IssueAttempt | undefined =>
  givenInvoice(accepted(), attempted(1, 1), ...events).attempts[0];

describe('an accepted invoice', () => {
  it('is the caller’s facts and the line, without issuer and fingerprint', () => {
    expect(givenInvoice(accepted())).toEqual({
      kind: 'invoice',
      facts: {
        mode: 'live',
        companyId: '12345678000195',
        invoiceId: '11111111-1111-4111-8111-111111111111',
        amountInCents: 150_000,
        description: 'Desenvolvimento de sistema',
        competence: '2026-11-21',
        customer: { type: 'br', document: '11111111000191', name: 'CLIENTE LTDA' },
        reference: 'pedido-1',
        cnae: '6201501',
        serviceCode: '010101',
        createdAt: event.T0,
      },
      origin: { kind: 'api' },
      attempts: [],
      outcome: { status: 'open' },
    });
  });
});

describe('an attempt', () => {
  const open = {
    attempt: 1,
    series: '1',
    number: 7,
    dpsId: event.DPS_ID,
    digest: 'digest',
    attemptedAt: at(1),
    deadlineAt: at(36),
  };

  it('begins open, without its bytes', () => {
    expect(attemptAfter()).toEqual({ ...open, resolution: 'open', codes: [] });
  });

  it.each<[string, InvoiceEvent, Partial<IssueAttempt>]>([
    ['not sent', notSent(1, 2), { resolution: 'not_sent', answeredAt: at(2), resolvedAt: at(2) }],
    ['unknown', unknown(1, 2), { resolution: 'unknown', answeredAt: at(2) }],
    [
      'undecided',
      unknown(1, 2, ['E1217']),
      { resolution: 'unknown', answeredAt: at(2), codes: ['E1217'], undecided: true },
    ],
    ['refused', event.rejected(1, 2), { resolution: 'rejected', answeredAt: at(2), codes: ['E0188'] }],
  ])('that is %s has its first answer', (_what, answer, known) => {
    expect(attemptAfter(answer)).toEqual({ ...open, codes: [], resolvedAt: at(2), ...known });
  });

  it.each<[string, InvoiceEvent, Partial<IssueAttempt>]>([
    ['absent', provenAbsent(1, 130), { resolution: 'absent', resolvedAt: at(130) }],
    ['authorized', event.authorized(1, 130), { resolution: 'authorized', resolvedAt: at(130) }],
    ['foreign', event.conflictFound(1, 130), { resolution: 'foreign', resolvedAt: at(130), foreignSameContent: false }],
    [
      'perhaps our own',
      event.conflictFound(1, 130, true),
      { resolution: 'foreign', resolvedAt: at(130), foreignSameContent: true },
    ],
  ])('that a look-up shows to be %s has no answer by that', (_what, found, known) => {
    expect(attemptAfter(found)).toEqual({ ...open, codes: [], ...known });
  });

  const heard = (data: Partial<InvoiceEventData<'IssuanceOutcomeUnknown'>>) => {
    const { type, data: lost } = unknown(1, 2);
    return attemptAfter({ type, data: { ...lost, ...data } });
  };

  it.each([
    ['a status of a server that had the request', { httpStatus: 429 }, true],
    ['an unreadable success', { httpStatus: 201 }, true],
    ['a code, whatever the status', { httpStatus: 503, codes: ['E1217'] }, true],
    ['the status of a gateway', { httpStatus: 504 }, undefined],
    ['a gateway that waited for the request', { httpStatus: 408 }, undefined],
    ['a page of a server that is out', { httpStatus: 503 }, undefined],
    ['a connection that broke', {}, undefined],
    [
      'a refusal with an uncatalogued code',
      { httpStatus: 400, codes: [UNCATALOGUED_CODE], refused: true as const },
      undefined,
    ],
    [
      'final codes as evidence',
      { httpStatus: 400, codes: ['E0188'], reason: 'rejected after an unknown attempt' },
      undefined,
    ],
  ])('by %s leaves it undecided or not', (_what, answer, undecided) => {
    expect(heard(answer)?.undecided).toBe(undecided);
  });

  it('keeps the time of its first answer and the codes of all', () => {
    expect(attemptAfter(unknown(1, 2, ['E0500']), event.rejected(1, 9, ['E0188']))).toMatchObject({
      resolution: 'rejected',
      answeredAt: at(2),
      resolvedAt: at(9),
      codes: ['E0500', 'E0188'],
    });
  });

  it('is one of several, each with its own end', () => {
    const { attempts } = givenInvoice(accepted(), attempted(1, 1), notSent(1, 2), attempted(2, 5), unknown(2, 6));
    expect(attempts.map(({ attempt, resolution }) => [attempt, resolution])).toEqual([
      [1, 'not_sent'],
      [2, 'unknown'],
    ]);
  });
});

describe('the outcome', () => {
  const note = { accessKey: event.ACCESS_KEY, nfseNumber: '1467', authorizedAt: at(2) };
  const bytes = { nfseXmlGzip: 'H4sI', nfseSha256: 'a'.repeat(64) };

  it.each<[string, InvoiceEvent, object]>([
    [
      'Authorized',
      event.authorized(1, 2),
      { status: 'issued', accessKey: event.ACCESS_KEY, nfseNumber: '1467', issuedAt: at(2) },
    ],
    [
      'IssuanceRejected',
      event.rejected(1, 2),
      { status: 'failed', code: 'issue_failed', failedAt: at(2), codes: ['E0188'] },
    ],
    [
      'IssuanceFailed, never sent',
      { type: 'IssuanceFailed', data: { failedAt: at(3601), at: at(3700) } },
      { status: 'failed', code: 'issue_failed', failedAt: at(3601), codes: [] },
    ],
    [
      'IssuanceFailed, not fit to be sent',
      { type: 'IssuanceFailed', data: { failedAt: at(3), reason: 'customer_name_missing', at: at(3) } },
      { status: 'failed', code: 'issue_failed', failedAt: at(3), codes: [], reason: 'customer_name_missing' },
    ],
    [
      'NotProcessed',
      { type: 'NotProcessed', data: { failedAt: at(900), at: at(950) } },
      { status: 'failed', code: 'nfse.not_processed', failedAt: at(900), codes: [] },
    ],
    ['IssuanceInterrupted', event.interrupted, { status: 'indeterminate', failedAt: at(3602) }],
    [
      'IndeterminateResolved as failed',
      { type: 'IndeterminateResolved', data: { as: 'failed', evidence: 'consulta', at: at(9000) } },
      { status: 'failed', code: 'issue_failed', failedAt: at(9000), codes: [] },
    ],
    [
      'IndeterminateResolved as issued',
      { type: 'IndeterminateResolved', data: { as: 'issued', evidence: 'consulta', at: at(9000), ...note, ...bytes } },
      { status: 'issued', accessKey: event.ACCESS_KEY, nfseNumber: '1467', issuedAt: at(2) },
    ],
  ])('after %s', (_what, last, outcome) => {
    expect(givenInvoice(accepted(), attempted(1, 1), last).outcome).toStrictEqual(outcome);
  });

  it('that support settles as failed has the codes with which sends were refused', () => {
    const judged = refusedAfterOthers(2, 202, ['E0190']);
    const uncatalogued = unknown(3, 402, [UNCATALOGUED_CODE, 'E0190']);
    const refused: InvoiceEvent = { type: 'IssuanceOutcomeUnknown', data: { ...uncatalogued.data, refused: true } };
    const settled: InvoiceEvent = {
      type: 'IndeterminateResolved',
      data: { as: 'failed', evidence: 'consulta', at: at(90_000) },
    };
    const { attempts, outcome } = givenInvoice(
      accepted(),
      attempted(1, 1),
      unknown(1, 2, ['RNG9999']),
      provenAbsent(1, 130),
      attempted(2, 201),
      judged,
      provenAbsent(2, 350),
      attempted(3, 401),
      refused,
      event.interrupted,
      settled,
    );
    expect(attempts.map(({ final }) => final)).toEqual([undefined, true, undefined]);
    expect(outcome).toMatchObject({ status: 'failed', code: 'issue_failed', codes: ['E0190', UNCATALOGUED_CODE] });
  });

  it('is not changed by a difference that the reconciliation found', () => {
    const issued = [accepted(), attempted(1, 1), event.authorized(1, 2)] as const;
    const difference: InvoiceEvent = { type: 'ReconciliationDifferenceFound', data: { kind: 'canceled', at: at(99) } };
    expect(given(...issued, difference)).toEqual(given(...issued));
  });
});

const notProcessed: InvoiceEvent = { type: 'NotProcessed', data: { failedAt: at(900), at: at(900) } };

describe('a stream without an invoice', () => {
  it('may hold where a reference went', () => {
    const taken: InvoiceEvent = { type: 'ReferenceTaken', data: { invoiceId: 'other', takenAt: at(0) } };
    expect(given(taken)).toEqual({ kind: 'reference_taken', invoiceId: 'other' });
  });

  it('is what a deleted test invoice leaves, whatever its log still says', () => {
    const deleted: InvoiceEvent = { type: 'TestInvoiceDeleted', data: { lastHash: 'h', deletedAt: at(604_800) } };
    expect(given(accepted({ mode: 'test' }), deleted)).toEqual({ kind: 'deleted' });
    expect(given(deleted, unknown(1, 2))).toEqual({ kind: 'deleted' });
  });

  it.each([
    ['IssuanceAttempted', [attempted(1, 1)]],
    ['CancellationRequested', [event.cancelRequested(60)]],
    ['NotProcessed', [{ type: 'ReferenceTaken', data: { invoiceId: 'x', takenAt: at(0) } }, notProcessed]],
  ] as [string, InvoiceEvent[]][])('takes no %s', (type, events) => {
    expect(() => given(...events)).toThrow(`${type} on a stream without an invoice`);
  });
});
