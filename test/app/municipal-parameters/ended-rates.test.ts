import { describe, expect, it } from 'vitest';
import { nextQuestionOf } from '../../../src/app/municipal-parameters/questions.js';
import type { Wanted } from '../../../src/app/municipal-parameters/wanted.js';
import { addSeconds, brasiliaDate, type FiscalDate, type Instant } from '../../../src/domain/common/time.js';
import {
  administeredCodes,
  type KnownParameters,
  OTHER_LINES_REFRESH_SECONDS,
  onlyMunicipalCode,
  questionKeyOf,
  REFRESH_SECONDS,
  USED_SECONDS,
} from '../../../src/domain/municipality/parameters.js';
import { knownIn, type ParametersEntry } from '../../../src/ports/municipal-parameters.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';

const PLACE = { mode: 'live', ibge: '3304557' } as const;
const SERVICE = '01.01.01.000';
/** Three hours before the year ends in Brasília. */
const DECEMBER: Instant = '2027-01-01T00:00:00.000Z';
const MIDNIGHT: Instant = '2027-01-01T03:00:00.000Z';

type Codes = Readonly<Record<string, { from: FiscalDate; until?: FiscalDate }>>;

/** A municipality that administers the codes on their days, and whose answers hold the rates in force only. */
const createMunicipality = (codes: Codes, lines: 'default' | 'other') => {
  let entries: ParametersEntry[] = [];
  const place: Wanted = {
    ...PLACE,
    companies: [DEMO_CNPJ],
    services: lines === 'default' ? [SERVICE] : [],
    otherServices: lines === 'other' ? [SERVICE] : [],
  };
  const known = (service: string, day: FiscalDate): KnownParameters => {
    const rate = codes[service.slice(-3)];
    const isThere = rate !== undefined && rate.from <= day && (rate.until === undefined || day <= rate.until);
    return { kind: 'aliquota', rates: isThere ? [{ percent: '5.00', ...rate }] : [] };
  };
  const put = (entry: ParametersEntry): void => {
    entries = [...entries.filter(({ questionKey }) => questionKey !== entry.questionKey), entry];
  };
  /** Asks one question; its code, or undefined where none is due. `isSilent` leaves it unanswered. */
  const ask = (now: Instant, isSilent = false): string | undefined => {
    const question = nextQuestionOf(place, entries, now)?.question;
    if (question === undefined) return undefined;
    const questionKey = questionKeyOf(question);
    const before = entries.find((entry) => entry.questionKey === questionKey);
    if (isSilent) put({ ...PLACE, ...before, questionKey, askedAt: now, failures: (before?.failures ?? 0) + 1 });
    else if ('service' in question && question.kind === 'aliquota')
      put({
        ...PLACE,
        questionKey,
        known: known(question.service, brasiliaDate(now)),
        knownAt: now,
        askedAt: now,
        failures: 0,
      });
    else
      put({
        ...PLACE,
        questionKey,
        known: { kind: 'convenio', isActive: true },
        knownAt: now,
        askedAt: now,
        failures: 0,
      });
    return questionKey.slice(-3);
  };
  return {
    ask,
    /** Asks, one question a second, until nothing is due: the code that went out before each question, and after the last. */
    askAll: (since: Instant) => {
      const sent: (string | undefined)[] = [];
      const asked: string[] = [];
      for (let now = since; ; now = addSeconds(now, 1)) {
        const there = administeredCodes({ serviceCode: '010101' }, knownIn(entries), brasiliaDate(now), now);
        sent.push(onlyMunicipalCode(there));
        const code = ask(now);
        if (code === undefined) return { asked, sent };
        asked.push(code);
        if (asked.length > 100) throw new Error('the questions never end');
      }
    },
  };
};

const UNTIL_DECEMBER = { from: '2023-01-01', until: '2026-12-31' };
const ALWAYS = { from: '2023-01-01' };
const FROM_JANUARY = { from: '2027-01-01' };

describe('when a rate has ended', () => {
  it.each(['default', 'other'] as const)(
    'another code is never taken for the only one, because what may have begun is asked for before the ended rate: %s line',
    (lines) => {
      const { askAll } = createMunicipality({ '001': UNTIL_DECEMBER, '002': ALWAYS, '003': FROM_JANUARY }, lines);
      askAll(DECEMBER);
      const { asked, sent } = askAll(MIDNIGHT);
      expect(sent.every((code) => code === undefined)).toBe(true);
      expect([...asked].sort()).toEqual(['000', '001', '002', '003', '004', '005', '006', '007', '008']);
      expect(asked.at(-1)).toBe('001');
    },
  );

  it.each(['default', 'other'] as const)(
    'the code that replaces it goes out as soon as it is asked for: %s line',
    (lines) => {
      const { askAll } = createMunicipality({ '001': UNTIL_DECEMBER, '003': FROM_JANUARY }, lines);
      askAll(DECEMBER);
      const { sent } = askAll(MIDNIGHT);
      expect(new Set(sent)).toEqual(new Set(['001', undefined, '003']));
      expect(sent.at(-1)).toBe('003');
    },
  );

  it('a code that remains alone goes out after all the others were asked for', () => {
    const { askAll } = createMunicipality({ '001': UNTIL_DECEMBER, '002': ALWAYS }, 'default');
    askAll(DECEMBER);
    const { sent } = askAll(MIDNIGHT);
    expect(sent.slice(0, -1).every((code) => code === undefined)).toBe(true);
    expect(sent.at(-1)).toBe('002');
  });

  it.each([
    ['default', REFRESH_SECONDS],
    ['other', OTHER_LINES_REFRESH_SECONDS],
  ] as const)('each code is asked for once, and then as often as any: %s line', (lines, seconds) => {
    const { askAll } = createMunicipality({ '001': UNTIL_DECEMBER, '002': UNTIL_DECEMBER }, lines);
    askAll(DECEMBER);
    const codes = (asked: readonly string[]) => asked.filter((code) => /^\d{3}$/.test(code));
    expect(codes(askAll(MIDNIGHT).asked).sort()).toEqual(['000', '001', '002', '003', '004', '005', '006', '007']);
    const isRate = (code: string) => /^00[1-7]$/.test(code);
    expect(askAll(addSeconds(MIDNIGHT, seconds - 60)).asked.filter(isRate)).toEqual([]);
    expect(askAll(addSeconds(MIDNIGHT, seconds + 60)).asked.filter(isRate)).toHaveLength(7);
  });

  it('the ended rate waits for a code without an answer as long as its older answer counts', () => {
    const { ask, askAll } = createMunicipality({ '001': UNTIL_DECEMBER, '002': ALWAYS }, 'default');
    askAll(DECEMBER);
    const isAsked = (since: Instant) => {
      for (let now = since, n = 0; n < 50; n += 1, now = addSeconds(now, 1)) if (ask(now, true) === '001') return true;
      return false;
    };
    for (let day = 0; day <= 6; day += 1) expect(isAsked(addSeconds(MIDNIGHT, day * 86_400))).toBe(false);
    expect(isAsked(addSeconds(DECEMBER, USED_SECONDS + 60))).toBe(true);
  });

  it('a clock that was set back before the rate began asks no question without end', () => {
    const { askAll } = createMunicipality({ '001': { from: '2027-01-01', until: '2027-01-31' } }, 'default');
    askAll(MIDNIGHT);
    expect(askAll(DECEMBER).asked).toEqual(['001']);
  });
});
