import { expect, it } from 'vitest';
import { isOfLostAttempt, noteMet } from '../../../src/domain/invoice/note-met.js';
import {
  accepted,
  attempted,
  authorized,
  authorizedData,
  conflictFound,
  interrupted,
} from '../../support/fixture/invoice.js';

const MET = '5'.repeat(50);
const { attempt: _attempt, evidence: _evidence, at: _at, ...note } = authorizedData(1, 80);
const settledWith = (accessKey: string) =>
  ({
    type: 'IndeterminateResolved',
    data: { as: 'issued', ...note, accessKey, evidence: 'portal', at: '2026-11-22T12:00:00.000Z' },
  }) as const;
const settledAsFailed = {
  type: 'IndeterminateResolved',
  data: { as: 'failed', evidence: 'portal', at: '2026-11-22T12:00:00.000Z' },
} as const;

const met = [accepted(), attempted(1, 1), conflictFound(1, 40, true), interrupted];
const foreign = [accepted(), attempted(1, 1), conflictFound(1, 40, false), interrupted];

it('an invoice met a note under its number when a conflict with its content names the key', () => {
  expect(noteMet(met, MET)).toMatchObject({ accessKey: MET, sameContent: true });
  expect(noteMet(met, '6'.repeat(50))).toBeUndefined();
  expect(noteMet(met, undefined)).toBeUndefined();
  expect(noteMet(foreign, MET)).toBeUndefined();
  expect(noteMet([accepted(), authorized(1, 2)], MET)).toBeUndefined();
});

it('the attempt of a note is lost when its event says so, or when support settled with a note that was met', () => {
  expect(isOfLostAttempt([...met, settledWith(MET)])).toBe(true);
  expect(isOfLostAttempt([...met, settledWith('6'.repeat(50))])).toBe(false);
  expect(isOfLostAttempt([...met, settledAsFailed])).toBe(false);
  expect(isOfLostAttempt(met)).toBe(false);
  expect(isOfLostAttempt([...foreign, settledWith(MET)])).toBe(false);
  const { type, data } = settledWith(MET);
  expect(isOfLostAttempt([...foreign, { type, data: { ...data, attemptLost: true } }])).toBe(true);
  const lost = { type: 'Authorized', data: { ...authorizedData(1, 80), attemptLost: true } } as const;
  expect(isOfLostAttempt([accepted(), lost])).toBe(true);
  expect(isOfLostAttempt([accepted(), attempted(1, 1), authorized(1, 2)])).toBe(false);
});
