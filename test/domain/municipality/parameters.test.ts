import { describe, expect, it } from 'vitest';
import { demandsNow } from '../../../src/domain/municipality/demands.js';
import {
  administeredCodes,
  ageSeconds,
  type CachedParameters,
  dottedService,
  isWithoutEmitter,
  isWithoutIncidence,
  type KnownParameters,
  municipalCodeProblem,
  onlyMunicipalCode,
  questionKeyOf,
  USED_SECONDS,
  usableConvenio,
} from '../../../src/domain/municipality/parameters.js';
import { at, T0 } from '../../support/fixture/invoice.js';

const convenio = (changes: object, knownAt = T0): CachedParameters => ({
  questionKey: 'convenio',
  known: { kind: 'convenio', isActive: true, nationalEmitter: true, ...changes },
  knownAt,
});

const onlyRegistered = convenio({ rfbContributors: false });
const anyone = convenio({ rfbContributors: true });
const inactive: CachedParameters = {
  questionKey: 'convenio',
  known: { kind: 'convenio', isActive: false },
  knownAt: T0,
};

describe('what a municipality demands', () => {
  it.each([
    ['nobody has told anything', undefined, [], 'normal', false],
    ['whoever is known by the CNPJ may issue', undefined, [anyone], 'normal', false],
    ['only those with an entry in CNC may issue', undefined, [onlyRegistered], 'normal', true],
    ['the same, of a ME/EPP', undefined, [onlyRegistered], 'simples', true],
    ['the same, of a MEI, who is exempt', undefined, [onlyRegistered], 'mei', false],
    ['the flag was not told', undefined, [convenio({})], 'normal', false],
    ['the convênio is not active', undefined, [inactive], 'normal', false],
    ['an operator says that it is not demanded', { requiresRegistration: false }, [onlyRegistered], 'normal', false],
    ['an operator says that it is demanded', { requiresRegistration: true }, [anyone], 'normal', true],
    ['the same, of a MEI, who is exempt (E0116)', { requiresRegistration: true }, [onlyRegistered], 'mei', false],
    ['an operator has spoken of the customer only', { requiresCustomer: true }, [onlyRegistered], 'normal', true],
  ] as const)('is a registration or not: %s', (_what, operator, kept, regime, expected) => {
    expect(demandsNow(operator, kept, regime, at(60)).requiresRegistration).toBe(expected);
  });

  it('is a customer only when an operator says so: no parameter tells it', () => {
    expect(demandsNow(undefined, [onlyRegistered, inactive], 'normal', T0).requiresCustomer).toBe(false);
    expect(demandsNow({ requiresCustomer: true }, [], 'normal', T0).requiresCustomer).toBe(true);
  });

  it('is unknown again when the answer is older than a week', () => {
    expect(demandsNow(undefined, [onlyRegistered], 'normal', at(USED_SECONDS)).requiresRegistration).toBe(true);
    expect(demandsNow(undefined, [onlyRegistered], 'normal', at(USED_SECONDS + 1)).requiresRegistration).toBe(false);
    expect(usableConvenio([onlyRegistered], at(USED_SECONDS + 1))).toBeUndefined();
  });
});

describe('a municipality without the national emitter', () => {
  it.each<[what: string, known: KnownParameters, expected: boolean]>([
    ['its convênio is not active', { kind: 'convenio', isActive: false }, true],
    ['it has its own emitter', { kind: 'convenio', isActive: true, nationalEmitter: false }, true],
    ['it uses the national one', { kind: 'convenio', isActive: true, nationalEmitter: true }, false],
    ['the answer does not say', { kind: 'convenio', isActive: true }, false],
    ['the answer is about something else', { kind: 'aliquota', rates: [] }, false],
  ])('is one or not where %s', (_what, known, expected) => {
    expect(isWithoutEmitter(known)).toBe(expected);
  });
});

describe('a question to the parameters API', () => {
  it('names a service with dots and nine digits, 000 where the municipality has no code of its own', () => {
    expect(dottedService('010701')).toBe('01.07.01.000');
    expect(dottedService('010401', '003')).toBe('01.04.01.003');
  });

  it('has one questionKey, whatever day it is asked for', () => {
    expect(questionKeyOf({ kind: 'convenio' })).toBe('convenio');
    expect(questionKeyOf({ kind: 'aliquota', service: '01.07.01.000' })).toBe('aliquota/01.07.01.000');
  });

  it('has an answer whose age is never negative', () => {
    expect([ageSeconds(T0, at(90)), ageSeconds(T0, at(-90))]).toEqual([90, 0]);
  });
});

describe('the municipal codes of a service', () => {
  const DAY = '2026-11-21';
  const rate = (service: string, is: boolean, changes: object = {}): CachedParameters => ({
    questionKey: `aliquota/01.04.01.${service}`,
    known: { kind: 'aliquota', rates: is ? [{ percent: '5.00', from: '2023-01-01', ...changes }] : [] },
    knownAt: T0,
  });
  const absent = (...services: readonly string[]) => services.map((service) => rate(service, false));
  const there = (...services: readonly string[]) => services.map((service) => rate(service, true));
  const walk = (kept: readonly CachedParameters[], chosen?: string, now = at(60)) =>
    administeredCodes({ serviceCode: '010401', chosen }, kept, DAY, now);

  const NONE_TO_005 = { codes: [], last: '005' };

  it.each([
    ['nothing is known', [], { codes: [], last: '000', next: '01.04.01.000' }],
    ['the national code is enough', there('000'), { codes: ['000'], last: '000' }],
    ['the national code is not', absent('000'), { codes: [], last: '000', next: '01.04.01.001' }],
    ['codes follow', [...absent('000', '002'), ...there('001')], { codes: ['001'], last: '002', next: '01.04.01.003' }],
    [
      'one code, and five after it without a rate',
      [...absent('000', '001', '002', '004', '005', '006', '007', '008'), ...there('003')],
      { codes: ['003'], last: '008' },
    ],
    ['a code after a wider gap', [...absent('000', '001', '002', '003', '004', '005'), ...there('010')], NONE_TO_005],
    ['none', absent('000', '001', '002', '003', '004', '005'), NONE_TO_005],
    [
      'a rate that is over',
      [rate('000', true, { until: '2026-11-20' })],
      { codes: [], last: '000', next: '01.04.01.001' },
    ],
    [
      'a rate that has not begun',
      [rate('000', true, { from: '2026-11-22' })],
      { codes: [], last: '000', next: '01.04.01.001' },
    ],
  ])('are walked: %s', (_what, kept, expected) => {
    expect(walk(kept)).toEqual(expected);
  });

  it('count for a week, and include the chosen one wherever it stands', () => {
    expect(walk(there('000'), undefined, at(USED_SECONDS + 1))).toEqual({
      codes: [],
      last: '000',
      next: '01.04.01.000',
    });
    expect(walk(there('000'), '150')).toEqual({ codes: ['000'], last: '000', next: '01.04.01.150' });
    expect(walk(there('000', '150'), '150')).toEqual({ codes: ['000', '150'], last: '000' });
    expect(walk([...there('000'), ...absent('150')], '150')).toEqual({ codes: ['000'], last: '000' });
  });

  it.each([
    ['a second code ends', ['001', '002'], '002', undefined, 'choose'],
    ['the national code ends', ['000', '001'], '000', undefined, undefined],
    ['the only code ends', ['003'], '003', '003', undefined],
  ] as const)('count on when %s, until the municipality is asked again', (_what, those, ending, only, problem) => {
    const all = ['000', '001', '002', '003', '004', '005', '006', '007', '008'] as const;
    const kept = all.map((code) =>
      rate(
        code,
        those.some((one) => one === code),
        code === ending ? { until: '2026-11-21' } : {},
      ),
    );
    for (const day of [DAY, '2026-11-22', '2026-11-25']) {
      const codes = administeredCodes({ serviceCode: '010401' }, kept, day, at(5 * 86_400));
      expect([onlyMunicipalCode(codes), municipalCodeProblem(codes, undefined)]).toEqual([only, problem]);
    }
    const asked = kept.map((one) => ({ ...one, knownAt: at(86_400) }));
    const codes = administeredCodes({ serviceCode: '010401' }, asked, '2026-11-22', at(86_400));
    expect(codes.codes).not.toContain(ending);
  });

  it.each([
    ['no rate', [], false],
    ['a rate of unknown incidence', [rate('003', true)], false],
    ['a rate without incidence', [rate('003', true, { incidence: false })], true],
    ['another service', [rate('004', true, { incidence: false })], false],
    ['a rate without incidence that is over', [rate('003', true, { incidence: false, until: '2026-11-20' })], false],
  ])('has no incidence where every rate in force says so: %s', (_what, kept, expected) => {
    expect(isWithoutIncidence('01.04.01.003', kept, DAY, at(60))).toBe(expected);
  });

  it.each([
    ['one', { codes: ['003'], last: '008' }, '003', undefined],
    ['several', { codes: ['001', '003'], last: '008' }, undefined, 'choose'],
    ['the national one', { codes: ['000'], last: '000' }, undefined, undefined],
    ['none', { codes: [], last: '005' }, undefined, 'none_found'],
    ['perhaps more', { codes: ['003'], last: '003', next: '01.04.01.004' }, undefined, undefined],
  ] as const)('go out by themselves where there is exactly one: %s', (_what, codes, only, problem) => {
    expect(onlyMunicipalCode(codes)).toBe(only);
    expect(municipalCodeProblem(codes, undefined)).toBe(problem);
    expect(municipalCodeProblem(codes, '003')).toBe(
      'next' in codes || codes.codes.some((code) => code === '003') ? undefined : 'not_administered',
    );
  });
});
