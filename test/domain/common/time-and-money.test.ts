import { describe, expect, it } from 'vitest';
import { centsFromDecimal, decimalFromCents } from '../../../src/domain/common/money.js';
import {
  addSeconds,
  brasiliaDate,
  brasiliaMidnight,
  brasiliaStamp,
  brasiliaWallClock,
  epochMs,
  instantOfStamp,
  isBefore,
  isDay,
  lastSecondOfBrasiliaMonth,
  laterOf,
  nextBrasiliaMonth,
} from '../../../src/domain/common/time.js';

describe('instants', () => {
  it('are compared and moved in milliseconds', () => {
    const [early, late] = ['2026-11-21T12:00:00.000Z', '2026-11-21T12:00:00.001Z'];
    expect([isBefore(early, late), isBefore(late, early), isBefore(early, early)]).toEqual([true, false, false]);
    expect([laterOf(early, late), laterOf(late, early)]).toEqual([late, late]);
    expect(addSeconds(early, -0.5)).toBe('2026-11-21T11:59:59.500Z');
  });

  it('that are none are refused by name', () => {
    expect(() => epochMs('yesterday')).toThrow('not an instant: yesterday');
  });
});

describe('stamps', () => {
  it.each([
    ['2026-03-03T12:17:37-03:00', '2026-03-03T15:17:37.000Z'],
    ['2026-03-03T12:17:37.7001131-03:00', '2026-03-03T15:17:37.700Z'],
    ['2028-02-29T23:59:59+14:00', '2028-02-29T09:59:59.000Z'],
    ['2026-12-31T23:59:59-14:00', '2027-01-01T13:59:59.000Z'],
    ['2026-03-03T12:17Z', '2026-03-03T12:17:00.000Z'],
    ['2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z'],
    ['2199-12-31T23:59:59Z', '2199-12-31T23:59:59.000Z'],
  ])('%s is %s', (stamp, at) => {
    expect(instantOfStamp(stamp)).toBe(at);
  });

  it.each([
    '9999-12-31T23:59:59-03:00',
    '2199-12-31T23:59:59-03:00',
    '1999-12-31T23:59:59Z',
    '2000-01-01T00:00:00+03:00',
    '0001-01-01T00:00:00+00:00',
    '0000-01-01T00:00:00+23:59',
    '2026-02-31T10:00:00-03:00',
    '2026-02-29T10:00:00-03:00',
    '2026-04-31T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-00-10T10:00:00Z',
    '2026-11-21T24:00:00-03:00',
    '2026-11-21T23:60:00Z',
    '2026-11-21T23:59:60Z',
    '2026-11-21T10:00:00+14:01',
    '2026-11-21T10:00:00-23:59',
    '2026-11-21T10:00:00+03:60',
    '2026-11-21T10:00:00',
    '2026-11-21',
    'x',
    '',
  ])('%s is no time', (stamp) => {
    expect(instantOfStamp(stamp)).toBeUndefined();
  });
});

describe('days', () => {
  it.each(['2026-02-28', '2028-02-29', '0001-01-01', '9999-12-31'])('%s is a day', (text) => {
    expect(isDay(text)).toBe(true);
  });

  it.each(['2026-02-30', '2026-02-29', '2026-13-01', '2026-00-01', '2026-1-1', '2026-01-01T00:00:00Z', '26-01-01', ''])(
    '%j is none',
    (text) => expect(isDay(text)).toBe(false),
  );
});

/** Literal instants, written by hand from the calendar (INV-cancelable_until, CANCEL-1). */
describe('ends of months in Brasília', () => {
  it.each([
    ['2026-11-21T12:00:00.000Z', '2026-12-01T03:00:00.000Z', '2026-12-01T02:59:59.000Z'],
    ['2026-12-01T02:59:59.999Z', '2026-12-01T03:00:00.000Z', '2026-12-01T02:59:59.000Z'],
    ['2026-12-01T03:00:00.000Z', '2027-01-01T03:00:00.000Z', '2027-01-01T02:59:59.000Z'],
    ['2026-12-31T23:00:00.000Z', '2027-01-01T03:00:00.000Z', '2027-01-01T02:59:59.000Z'],
    ['2027-02-10T00:00:00.000Z', '2027-03-01T03:00:00.000Z', '2027-03-01T02:59:59.000Z'],
    ['2028-02-29T12:00:00.000Z', '2028-03-01T03:00:00.000Z', '2028-03-01T02:59:59.000Z'],
    // Daylight saving time was in force: two hours behind UTC until 2018-02-18, and again from 2018-11-04.
    ['2018-01-15T12:00:00.000Z', '2018-02-01T02:00:00.000Z', '2018-02-01T01:59:59.000Z'],
    ['2018-02-20T12:00:00.000Z', '2018-03-01T03:00:00.000Z', '2018-03-01T02:59:59.000Z'],
    ['2018-11-20T12:00:00.000Z', '2018-12-01T02:00:00.000Z', '2018-12-01T01:59:59.000Z'],
  ])('what is of the month of %s ends before %s', (at, nextMonth, lastSecond) => {
    expect(nextBrasiliaMonth(at)).toBe(nextMonth);
    expect(lastSecondOfBrasiliaMonth(at)).toBe(lastSecond);
  });
});

describe('days in Brasília', () => {
  it.each([
    ['2026-11-22T02:59:59.999Z', '2026-11-21', '2026-11-21T23:59:59-03:00'],
    ['2026-11-22T03:00:00.000Z', '2026-11-22', '2026-11-22T00:00:00-03:00'],
    ['2018-12-01T01:59:59.000Z', '2018-11-30', '2018-11-30T23:59:59-02:00'],
    ['2018-12-01T02:00:00.000Z', '2018-12-01', '2018-12-01T00:00:00-02:00'],
  ])('%s is of %s, stamped %s', (at, date, stamp) => {
    expect(brasiliaDate(at)).toBe(date);
    expect(brasiliaStamp(at)).toBe(stamp);
  });

  it.each([
    ['2026-11-21', '2026-11-21T03:00:00.000Z'],
    ['2018-01-15', '2018-01-15T02:00:00.000Z'],
    ['2018-02-18', '2018-02-18T03:00:00.000Z'],
  ])('midnight of %s is %s', (date, at) => {
    expect(brasiliaMidnight(date)).toBe(at);
  });

  it('keep their seconds on the wall, however often they were asked before', () => {
    for (let quarter = 0; quarter < 2_500; quarter += 1) {
      const at = addSeconds('2026-11-21T12:07:08.000Z', quarter * 900);
      const minute = String((7 + quarter * 15) % 60).padStart(2, '0');
      expect(brasiliaStamp(at).slice(14)).toBe(`${minute}:08-03:00`);
    }
    expect(brasiliaWallClock('2026-11-21T12:07:08.000Z')).toEqual({ year: 2026, month: 11, day: 21, hour: 9 });
  });
});

describe('amounts', () => {
  it.each([
    [0, '0.00'],
    [5, '0.05'],
    [99, '0.99'],
    [100, '1.00'],
    [123_456, '1234.56'],
  ])('%i cents are %s, and back', (cents, decimal) => {
    expect(decimalFromCents(cents)).toBe(decimal);
    expect(centsFromDecimal(decimal)).toBe(cents);
  });

  it('a sum beyond the safe integers is written from a bigint', () => {
    expect([5n, 2n ** 53n].map(decimalFromCents)).toEqual(['0.05', '90071992547409.92']);
    expect(() => decimalFromCents(-1n)).toThrow('an amount must be');
  });

  it.each([-1, 0.5, 2 ** 53, Number.NaN])('%d is no amount', (cents) => {
    expect(() => decimalFromCents(cents)).toThrow('an amount must be a non-negative whole number of cents');
  });

  it('whole reais need no decimals; anything else is no decimal of the layout', () => {
    expect(centsFromDecimal('12')).toBe(1_200);
    for (const wrong of ['', '1.5', '1.555', '1,50', 'x1.50', '1.50x', ' 1.50', '-1.00', '90071992547409.92'])
      expect(centsFromDecimal(wrong), wrong).toBeUndefined();
  });
});
