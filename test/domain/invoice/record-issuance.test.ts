import { describe, expect, it } from 'vitest';
import {
  conclude,
  recordAbsence,
  recordAttempt,
  recordAuthorized,
  recordRejection,
  recordUnknown,
} from '../../../src/domain/invoice/record-issuance.js';
import { accepted, at, attempted, authorizedData, given, limits, notSent, provenAbsent, unknown } from './fixtures.js';

const attemptData = (attempt: number, seconds: number) => {
  const event = attempted(attempt, seconds);
  if (event.type !== 'IssuanceAttempted') throw new Error('fixture');
  return event.data;
};

describe('recordAttempt', () => {
  it('refuses a second attempt while the first is open', () => {
    expect(recordAttempt(given(accepted(), attempted(1, 1)), attemptData(2, 5))).toHaveProperty('stale');
  });

  it('allows the next one once the first is proven absent', () => {
    const state = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130));
    expect(recordAttempt(state, attemptData(2, 131))).toMatchObject({ events: [{ type: 'IssuanceAttempted' }] });
  });
});

describe('recordRejection', () => {
  const codes = { codes: ['E0188'] };

  it('fails the invoice when every earlier attempt never left', () => {
    const state = given(accepted(), attempted(1, 1), notSent(1, 1), attempted(2, 5));
    expect(recordRejection(state, 2, codes, at(6))).toMatchObject({ events: [{ type: 'IssuanceRejected' }] });
  });

  it('is only evidence when an earlier attempt may have arrived', () => {
    const state = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130), attempted(2, 131));
    expect(recordRejection(state, 2, codes, at(132))).toMatchObject({
      events: [{ type: 'IssuanceOutcomeUnknown', data: { codes: ['E0188'] } }],
    });
  });
});

describe('recordAbsence', () => {
  const unknownOutcome = given(accepted(), attempted(1, 1), unknown(1, 2));
  const absence = (firstSeconds: number, nowSeconds: number) =>
    recordAbsence(unknownOutcome, { attempt: 1, firstAbsentAt: at(firstSeconds), now: at(nowSeconds) }, limits);

  it('takes two proofs after the deadline, far enough apart', () => {
    expect(absence(36, 96)).toMatchObject({ events: [{ type: 'IssuanceProvenAbsent' }] });
  });

  it('counts no proof from before the deadline', () => {
    expect(absence(35, 300)).toEqual({ stale: 'the proof is not complete' });
  });

  it('counts no second proof that comes too soon', () => {
    expect(absence(36, 95)).toEqual({ stale: 'the proof is not complete' });
  });

  it('is impossible after an E0014', () => {
    const state = given(
      accepted(),
      attempted(1, 1),
      unknown(1, 2),
      provenAbsent(1, 130),
      attempted(2, 131),
      unknown(2, 132, ['E0014']),
    );
    const proof = { attempt: 2, firstAbsentAt: at(200), now: at(400) };
    expect(recordAbsence(state, proof, limits)).toEqual({ stale: 'the authorizer said that this DPS exists' });
  });
});

describe('recordAuthorized', () => {
  it('is recorded whatever became of the attempt, as long as no outcome stands', () => {
    const state = given(accepted(), attempted(1, 1), unknown(1, 2), provenAbsent(1, 130), attempted(2, 131));
    expect(recordAuthorized(state, authorizedData(1, 140))).toMatchObject({ events: [{ type: 'Authorized' }] });
  });

  it('changes no outcome that stands', () => {
    const interrupted = { type: 'IssuanceInterrupted' as const, data: { failedAt: at(3602), at: at(3603) } };
    const state = given(accepted(), attempted(1, 1), unknown(1, 2), interrupted);
    expect(recordAuthorized(state, authorizedData(1, 4000))).toHaveProperty('stale');
  });
});

describe('conclude', () => {
  it('changes nothing when it comes early', () => {
    const verdict = { event: 'NotProcessed' as const, failedAt: at(900) };
    expect(conclude(given(accepted()), verdict, at(899), limits)).toEqual({ stale: 'not due' });
  });

  it('does not fail an invoice that got an attempt meanwhile', () => {
    const verdict = { event: 'NotProcessed' as const, failedAt: at(900) };
    expect(conclude(given(accepted(), attempted(1, 899)), verdict, at(901), limits)).toEqual({ stale: 'not due' });
  });
});

it('a second answer to the same attempt changes nothing', () => {
  const state = given(accepted(), attempted(1, 1), unknown(1, 2));
  expect(recordUnknown(state, { attempt: 1, reason: 'again', codes: [], at: at(3) })).toEqual({ events: [] });
});
