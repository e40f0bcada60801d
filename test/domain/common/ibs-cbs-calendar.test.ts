import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  DUTIES,
  dutyOf,
  OPEN_POINTS,
  openPointsAt,
  RATES,
  type Rate,
  ratesOf,
} from '../../../src/domain/common/ibs-cbs-calendar.js';

const page = readFileSync('docs/national-system.md', 'utf8');
const section = page.slice(page.indexOf('### IBS and CBS by date'), page.indexOf('### Classifications'));
const cells = (row: string): string[] => row.split('|').map((cell) => cell.trim());
const rows = (header: string): string[][] => {
  const [, , ...found] = section.slice(section.indexOf(header)).split('\n\n')[0]?.split('\n') ?? [];
  return found.map(cells);
};

describe('the calendar of IBS and CBS', () => {
  it.each([
    ['normal', '010101', '2026-10-01'],
    ['normal', '040101', '2026-10-01'],
    ['normal', '010301', '2026-12-01'],
    ['normal', '010501', '2026-12-01'],
    ['normal', '010901', '2026-12-01'],
    ['normal', '160101', '2026-12-01'],
    ['normal', '990101', '2026-12-01'],
    ['simples', '010101', '2027-01-01'],
    ['simples', '010501', '2027-01-01'],
    ['mei', '060101', '2027-01-01'],
  ] as const)('a company of the regime %s owes the group for %s from %s', (regime, serviceCode, owedFrom) => {
    expect(dutyOf(regime, serviceCode).owedFrom).toBe(owedFrom);
  });

  it('never declares before the group is allowed, nor later than it is owed', () => {
    for (const { declaredFrom, owedFrom } of DUTIES) {
      expect(declaredFrom >= '2026-01-01').toBe(true);
      expect(declaredFrom <= owedFrom).toBe(true);
    }
  });

  it.each([
    ['2025-12-31', '0.10'],
    ['2026-01-01', '0.10'],
    ['2026-12-31', '0.10'],
    ['2027-01-01', '0.05'],
    ['2028-12-31', '0.05'],
  ])('the rate of the state on %s is %s', (competence, percent) => {
    expect(ratesOf(competence).ibsUf).toEqual({ percent });
  });

  it('leaves open what is not published', () => {
    expect(ratesOf('2027-01-01')).toMatchObject({ ibsMun: { percent: '0.05' }, cbs: { open: true } });
    expect(ratesOf('2029-06-01')).toMatchObject({ ibsUf: { open: true }, ibsMun: { open: true }, cbs: { open: true } });
  });

  it('tells of an open point from 30 days before it begins, to those whom it concerns', () => {
    const everybody = new Set(['mei', 'simples', 'normal'] as const);
    expect(openPointsAt('2026-12-01', everybody)).toEqual([]);
    const endOfIssqn = expect.objectContaining({
      from: '2033-01-01',
      what: expect.stringContaining('the ISSQN has ended'),
    });
    const of2027 = OPEN_POINTS.filter(({ from }) => from === '2027-01-01');
    expect(openPointsAt('2026-12-02', everybody)).toEqual(of2027);
    expect(openPointsAt('2027-06-01', everybody)).toEqual(of2027);
    expect(openPointsAt('2026-12-31', new Set(['normal'] as const))).toHaveLength(of2027.length - 1);
    expect(openPointsAt('2028-12-02', everybody)).toEqual(OPEN_POINTS.filter(({ from }) => from <= '2029-01-01'));
    expect(openPointsAt('2032-12-01', everybody)).not.toContainEqual(endOfIssqn);
    expect(openPointsAt('2032-12-02', everybody)).toContainEqual(endOfIssqn);
    expect(openPointsAt('2032-12-02', everybody)).toEqual(OPEN_POINTS);
    expect(openPointsAt('2026-12-31', new Set())).toEqual([]);
  });

  it('says of an open rate that a total depends on it', () => {
    const ofRates = OPEN_POINTS.filter(({ what }) => what.startsWith('the rate'));
    expect(ofRates.map(({ from }) => from)).toEqual(['2027-01-01', '2029-01-01']);
    for (const { meanwhile } of ofRates)
      expect(meanwhile).toContain('adds to a note that declares depends on the rate');
  });

  it('is what the page on the national system says', () => {
    const duties = rows('| regime | services |').map(([, , , declared = '', owed]) => [declared.slice(0, 10), owed]);
    expect(duties).toEqual(DUTIES.map(({ declaredFrom, owedFrom }) => [declaredFrom, owedFrom]));
    const shown = (rate: Rate): string => ('percent' in rate ? rate.percent : '**open**');
    const rates = rows('| competence from |').map(([, ...row]) => row.slice(0, 4));
    expect(rates).toEqual(RATES.map(({ from, ibsUf, ibsMun, cbs }) => [from, ...[ibsUf, ibsMun, cbs].map(shown)]));
  });
});
