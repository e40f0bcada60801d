import { describe, expect, it } from 'vitest';
import { existsCodes } from '../../../src/domain/common/authorizer-code.js';
import {
  decideAbsence,
  decideAuthorized,
  decideNoteOf,
  decideNumberConflict,
  decideRejection,
  decideUnsendable,
  isKnownToExist,
} from '../../../src/domain/invoice/decide-issuance.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { decideAnswer, decideAttempt } from '../../../src/domain/invoice/send-decisions.js';
import { provesAbsence } from '../../../src/domain/invoice/send-steps.js';
import * as event from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';

const { accepted, at, attempted, conflictFound, dataOf, given, limits, notSent, provenAbsent, unknown } = event;

const open = given(accepted(), attempted(1, 1));

describe('a decision records', () => {
  it.each([
    ['of a send', () => decideAttempt(given(accepted()), attempted(1, 1)), attempted(1, 1)],
    ['of bytes that never left', () => decideAnswer(open, notSent(1, 2)), notSent(1, 2)],
    ['of no clear answer', () => decideAnswer(open, unknown(1, 2)), unknown(1, 2)],
    ['of a note in hand', () => decideAuthorized(open, event.authorizedData(1, 2)), event.authorized(1, 2)],
    [
      'of a foreign note',
      () => decideNumberConflict(open, dataOf(conflictFound(1, 40), 'NumberConflictFound')),
      conflictFound(1, 40),
    ],
  ])('all that the sender knows %s', (_what, decide, recorded) => {
    expect(decide()).toEqual({ events: [recorded] });
  });

  it('of a refusal its codes, its status and the authorizer’s words', () => {
    const answer = { codes: ['E0188'], httpStatus: 400, texts: ['CNPJ inválido'] };
    expect(decideRejection(open, { attempt: 1 }, answer, at(6))).toEqual({
      events: [{ type: 'IssuanceRejected', data: { attempt: 1, ...answer, at: at(6) } }],
    });
  });

  it('a refusal after a send that may have arrived as evidence, with the reason', () => {
    const resent = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130), attempted(2, 131));
    expect(decideRejection(resent, { attempt: 2 }, { codes: ['E0188'] }, at(132))).toEqual({
      events: [
        {
          type: 'IssuanceOutcomeUnknown',
          data: { attempt: 2, reason: 'rejected after an unknown attempt', codes: ['E0188'], at: at(132) },
        },
      ],
    });
  });

  it('of a proven absence the DPS and both times of asking', () => {
    expect(decideAbsence(open, { attempt: 1, firstAbsentAt: at(36), now: at(96) }, limits)).toEqual({
      events: [
        {
          type: 'IssuanceProvenAbsent',
          data: { attempt: 1, dpsId: event.DPS_ID, firstAskedAt: at(36), secondAskedAt: at(96), at: at(96) },
        },
      ],
    });
  });

  it('a document that cannot be written as a safe failure with its reason, dated now', () => {
    expect(decideUnsendable(given(accepted()), 'customer_name_missing', at(3))).toEqual({
      events: [{ type: 'IssuanceFailed', data: { failedAt: at(3), reason: 'customer_name_missing', at: at(3) } }],
    });
  });
});

describe('an answer belongs to its attempt', () => {
  it('and is taken for the second attempt when the first never left', () => {
    const second = given(accepted(), attempted(1, 1), notSent(1, 2), attempted(2, 5));
    expect(decideAnswer(second, unknown(2, 6))).toEqual({
      events: [unknown(2, 6)],
    });
  });

  it('and changes nothing for an attempt that was never made', () => {
    expect(decideAnswer(open, notSent(2, 6))).toEqual({ refused: 'there is no such attempt' });
  });
});

describe('a refusal', () => {
  it('ends the invoice when every earlier attempt never left', () => {
    const second = given(accepted(), attempted(1, 1), notSent(1, 2), attempted(2, 5));
    expect(decideRejection(second, { attempt: 2 }, { codes: ['E0188'] }, at(6))).toEqual({
      events: [event.rejected(2, 6)],
    });
  });

  it.each([
    ['ends the invoice when another party’s note has the DPS id of every earlier attempt', false, 'IssuanceRejected'],
    ['is evidence when that note may be our own', true, 'IssuanceOutcomeUnknown'],
  ])('%s', (_what, sameContent, recorded) => {
    const found = [accepted(), attempted(1, 1), unknown(1, 2, ['E0014']), conflictFound(1, 40, sameContent)];
    const second = given(...found, attempted(2, 50));
    const decision = decideRejection(second, { attempt: 2 }, { codes: ['E0188'] }, at(51));
    expect(event.decisionText(decision)).toBe(recorded);
  });

  it('with an uncatalogued code is final by two absences in the same case', () => {
    const found = [accepted(), attempted(1, 1), unknown(1, 2, ['E0014']), conflictFound(1, 40)];
    const { data } = unknown(2, 51, [UNCATALOGUED_CODE]);
    const refused: InvoiceEvent = { type: 'IssuanceOutcomeUnknown', data: { ...data, refused: true } };
    const second = given(...found, { ...attempted(2, 50), data: { ...attempted(2, 50).data, dpsId: 'DPS' } }, refused);
    const decision = decideAbsence(second, { attempt: 2, firstAbsentAt: at(100), now: at(700) }, limits);
    expect(event.decisionText(decision)).toBe('IssuanceRejected');
  });
});

const underOther = (attempt: number): InvoiceEvent => ({
  ...attempted(attempt, attempt),
  data: { ...attempted(attempt, attempt).data, dpsId: 'DPS' },
});

describe('a note in hand', () => {
  it('is recorded whatever became of its attempt, as long as no outcome stands', () => {
    const resent = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130), attempted(2, 131));
    expect(decideAuthorized(resent, event.authorizedData(1, 140))).toEqual({ events: [event.authorized(1, 140)] });
  });

  it.each([
    ['its attempt', 1, [attempted(1, 1)], { attempt: 1 }],
    ['its attempt, beside a later one under the same DPS id', 1, [attempted(1, 1), attempted(2, 100)], { attempt: 1 }],
    ['an attempt under the same DPS id, where its own is lost', 2, [attempted(1, 1)], { attempt: 1 }],
    ['the last attempt under that DPS id', 3, [attempted(1, 1), attempted(2, 100)], { attempt: 2 }],
    ['a lost attempt', 1, [], { attempt: 1, attemptLost: true }],
    ['a lost attempt after the last one', 1, [underOther(1), underOther(2)], { attempt: 3, attemptLost: true }],
  ] as const)('is recorded as the note of %s', (_whose, of, held, expected) => {
    const { data } = event.authorized(1, 140);
    expect(decideNoteOf(given(accepted(), ...held), event.DPS_ID, event.authorizedData(of, 140))).toEqual({
      events: [{ type: 'Authorized', data: { ...data, ...expected } }],
    });
  });

  it('is recorded for no stream without an invoice', () => {
    const refused = { refused: 'the invoice has its outcome' };
    expect(decideNoteOf(given(), event.DPS_ID, event.authorizedData(1, 140))).toEqual(refused);
  });

  const issued = given(accepted(), attempted(1, 1), event.authorized(1, 2));

  it('that stands already is no second event', () => {
    expect(decideAuthorized(issued, event.authorizedData(1, 50))).toEqual({ events: [] });
  });

  it('with another access key never replaces the one that stands', () => {
    expect(decideAuthorized(issued, { ...event.authorizedData(1, 50), accessKey: '6'.repeat(50) })).toEqual({
      refused: 'the invoice has its outcome',
    });
  });
});

describe('"this DPS exists" (E0014)', () => {
  const refusedAsExisting = [accepted(), attempted(1, 1), unknown(1, 2, ['E0500', 'E0014'])] as const;

  it('said of a DPS id forbids the proof of its absence permanently', () => {
    expect(isKnownToExist(event.givenInvoice(...refusedAsExisting), event.DPS_ID)).toBe(true);
    expect(
      decideAbsence(given(...refusedAsExisting), { attempt: 1, firstAbsentAt: at(36), now: at(3000) }, limits),
    ).toEqual({
      refused: 'the authorizer said that this DPS exists',
    });
  });

  it.each(existsCodes.dps)('is said by each code of the list that the adapter reads: %s', (code) => {
    const answered = [accepted(), attempted(1, 1), unknown(1, 2, [code])] as const;
    const decision = decideAbsence(given(...answered), { attempt: 1, firstAbsentAt: at(36), now: at(3000) }, limits);
    expect(decision).toEqual({ refused: 'the authorizer said that this DPS exists' });
    expect(isKnownToExist(event.givenInvoice(...answered), event.DPS_ID)).toBe(true);
  });

  it('said of the second send forbids it as well', () => {
    const resent = [accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130), attempted(2, 131)];
    const state = given(...resent, unknown(2, 132, ['E0014']));
    expect(decideAbsence(state, { attempt: 2, firstAbsentAt: at(200), now: at(400) }, limits)).toEqual({
      refused: 'the authorizer said that this DPS exists',
    });
  });

  it('says nothing of another DPS id of the same invoice', () => {
    const other = 'DPS330455721234567800019500001000000000000000008';
    const renumbered = attempted(2, 50);
    const next = { ...renumbered, data: { ...dataOf(renumbered, 'IssuanceAttempted'), number: 8, dpsId: other } };
    const history = [...refusedAsExisting, conflictFound(1, 40), next as typeof renumbered] as const;
    expect(isKnownToExist(event.givenInvoice(...history), other)).toBe(false);
    expect(decideAbsence(given(...history), { attempt: 2, firstAbsentAt: at(90), now: at(150) }, limits)).toMatchObject(
      { events: [{ type: 'IssuanceProvenAbsent', data: { dpsId: other } }] },
    );
  });

  it('is not what other codes say', () => {
    expect(
      isKnownToExist(event.givenInvoice(accepted(), attempted(1, 1), unknown(1, 2, ['E0500'])), event.DPS_ID),
    ).toBe(false);
  });
});

describe('the proof of absence', () => {
  const send = { deadlineAt: at(36) };

  it.each([
    ['no first "absent"', undefined, 500, false],
    ['a first one before the deadline', 35, 500, false],
    ['a second one less than a pause later', 36, 95, false],
    ['both at the first possible instants', 36, 96, true],
    ['both later', 100, 400, true],
  ])('with %s', (_what, first, second, complete) => {
    const firstAbsentAt = first === undefined ? undefined : at(first);
    expect(provesAbsence(send, firstAbsentAt, at(second), limits)).toBe(complete);
    if (firstAbsentAt === undefined) return;
    expect(event.decisionText(decideAbsence(open, { attempt: 1, firstAbsentAt, now: at(second) }, limits))).toBe(
      complete ? 'IssuanceProvenAbsent' : 'the proof is not complete',
    );
  });
});
