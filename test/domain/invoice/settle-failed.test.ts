import { expect, it } from 'vitest';
import type { InvoiceEvent, OtherSale } from '../../../src/domain/invoice/events.js';
import { absencesToProve, type ProvenAbsence, settleAsFailed } from '../../../src/domain/invoice/settle.js';
import {
  accepted,
  at,
  attempted,
  conflictFound,
  DPS_ID,
  given,
  interrupted,
  limits,
  notSent,
  unknown,
} from '../../support/fixture/invoice.js';

const NOW = at(200_000);
const absence: ProvenAbsence = { dpsId: DPS_ID, firstAskedAt: at(100_000), secondAskedAt: at(190_000) };
const otherSale: OtherSale = { dpsId: DPS_ID, accessKey: '5'.repeat(50), by: 'content' };
const elsewhere: OtherSale = { ...otherSale, dpsId: DPS_ID.replace(/7$/, '8') };

const settle = (
  events: readonly InvoiceEvent[],
  absences: readonly ProvenAbsence[],
  otherSales: readonly OtherSale[],
  now = NOW,
) => settleAsFailed(given(accepted(), ...events), { absences, otherSales }, { evidence: 'portal', now }, limits);

const lost = [attempted(1, 1), unknown(1, 3), interrupted];
const saidToExist = [attempted(1, 1), unknown(1, 3, ['E0014']), interrupted];
const other = { dpsId: DPS_ID.replace(/7$/, '8') as typeof DPS_ID };
const underLaterNumber = ((event) => ({ ...event, data: { ...event.data, ...other } }) as InvoiceEvent)(
  attempted(2, 5),
);
const metThenNotSent = [attempted(1, 1), conflictFound(1, 4), underLaterNumber, notSent(2, 6), interrupted];
const metOther = [attempted(1, 1), conflictFound(1, 4), interrupted];

it.each([
  ['a lost answer', lost, { dpsIds: [DPS_ID], saidToExist: [], met: [] }],
  ['a DPS that was said to exist', saidToExist, { dpsIds: [DPS_ID], saidToExist: [DPS_ID], met: [] }],
  ['a note with other content', metOther, { dpsIds: [], saidToExist: [], met: [DPS_ID] }],
])('what is to be proven after %s', (_what, events, wanted) => {
  expect(absencesToProve(given(accepted(), ...events), NOW)).toEqual({ ...wanted, earliest: at(86_401) });
});

it('a number after a note with other content is asked for too, although its attempts were not sent', () => {
  expect(absencesToProve(given(accepted(), ...metThenNotSent), NOW)).toMatchObject({
    dpsIds: [other.dpsId],
    met: [DPS_ID],
  });
});

it.each<[string, readonly InvoiceEvent[], readonly ProvenAbsence[], readonly OtherSale[]]>([
  ['an absence', lost, [absence], []],
  ['the note of another sale instead of an absence', lost, [], [otherSale]],
  ['the note of another sale where the DPS was said to exist', saidToExist, [], [otherSale]],
  ['the note of another sale that was met', metOther, [], [otherSale]],
])('an invoice is settled as failed by %s', (_how, events, absences, otherSales) => {
  const proofs = otherSales.length > 0 ? { absences, otherSales } : { absences };
  expect(settle(events, absences, otherSales)).toEqual({
    events: [{ type: 'IndeterminateResolved', data: { as: 'failed', ...proofs, evidence: 'portal', at: NOW } }],
  });
});

it.each<[string, readonly InvoiceEvent[], readonly ProvenAbsence[], readonly OtherSale[], string]>([
  ['no proof', lost, [], [], 'its absence at the authorizer is not proven'],
  ['another DPS id', lost, [], [elsewhere], 'its absence at the authorizer is not proven'],
  ['an absence, while the DPS was said to exist', saidToExist, [absence], [], 'its absence at the authorizer'],
  ['an absence, while a note was met', metOther, [absence], [], 'the note under its number is not proven to be'],
])('an invoice is not settled as failed by %s', (_how, events, absences, otherSales, refused) => {
  expect(settle(events, absences, otherSales)).toEqual({ refused: expect.stringContaining(refused) });
});

it('the note of another sale proves nothing within a day of the last attempt, nor beside a note with equal content', () => {
  expect(settle(lost, [], [otherSale], at(86_400))).toEqual({ refused: expect.stringContaining('24 h after') });
  const equal = [attempted(1, 1), conflictFound(1, 4, true), interrupted];
  expect(settle(equal, [], [otherSale])).toEqual({ refused: expect.stringContaining('stays indeterminate') });
});
