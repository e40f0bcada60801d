import { describe, expect, it } from 'vitest';
import { issuableActivities } from '../../../src/domain/company/activities.js';
import { checkEligibility } from '../../../src/domain/company/eligibility.js';
import type { Registration } from '../../../src/domain/company/events.js';
import { selectLine } from '../../../src/domain/company/line-selection.js';
import { catalogue, company, facts, line, registration, request } from '../../support/fixture/company.js';

/** The certificate of the fixture is good in all of 2026. */
const at = (now: string) => checkEligibility(request, { ...facts, now });

const eligible = (changed: Partial<Registration>, mode: 'live' | 'test' = 'live') =>
  checkEligibility(request, { ...facts, mode, company: { ...company, registration: { ...registration, ...changed } } });

const recordedOf = (changed: Partial<Registration>, mode: 'live' | 'test' = 'live') => {
  const result = eligible(changed, mode);
  return 'eligible' in result ? result.eligible : undefined;
};

const issuer = { municipality: '3304557', taxRegime: 'simples', simplesAssessment: 'all', specialRegime: 0 };
const chosen = { cnae: '6201501', serviceCode: '010101', nbs: '115021000' };

describe('what the acceptance records of the company', () => {
  it('is no more than the company file says', () => {
    expect(recordedOf({})).toStrictEqual({ line: chosen, issuer });
    expect(eligible({})).toMatchObject({ line: { ...chosen, isDefault: true } });
  });

  it('are the percentage of taxes and the registration of the mode, where there are any', () => {
    const changed = { approximateTaxPercent: '6.00', municipalRegistration: { live: '111', test: '222' } };
    expect(recordedOf(changed)).toStrictEqual({
      line: chosen,
      issuer: { ...issuer, approximateTaxPercent: '6.00', municipalRegistration: '111' },
    });
    expect(eligible(changed, 'test')).toMatchObject({ eligible: { issuer: { municipalRegistration: '222' } } });
    expect(recordedOf({ municipalRegistration: { live: '111' } }, 'test')).toStrictEqual({ line: chosen, issuer });
  });

  it('is the municipal code that the company chose, before the only one that the municipality is known to have', () => {
    const municipality = {
      ibge: '3304557',
      requiresCustomer: false,
      requiresRegistration: false,
      onlyMunicipalCode: (code: string) => (code === '010101' ? '007' : undefined),
    };
    const codeOf = (
      municipalCodes?: Registration['municipalCodes'],
      there: typeof facts.municipality = municipality,
    ) => {
      const changed = { ...registration, ...(municipalCodes && { municipalCodes }) };
      const known = { ...facts, municipality: there, company: { ...company, registration: changed } };
      const checked = checkEligibility(request, known);
      return 'eligible' in checked ? checked.eligible.line.municipalCode : checked.refused.code;
    };
    expect(codeOf([{ serviceCode: '010101', municipalCode: '003' }])).toBe('003');
    expect(codeOf([{ serviceCode: '010401', municipalCode: '003' }])).toBe('007');
    expect(codeOf()).toBe('007');
    expect(codeOf(undefined, facts.municipality)).toBeUndefined();
  });

  it('takes a registration that the municipality demands in test mode', () => {
    const municipality = { ibge: '3304557', requiresCustomer: false, requiresRegistration: true };
    const registered = { ...company, registration: { ...registration, municipalRegistration: { test: '222' } } };
    expect(checkEligibility(request, { ...facts, mode: 'test', municipality, company: registered })).toHaveProperty(
      'eligible',
    );
  });
});

describe('the certificate', () => {
  it.each([
    ['2025-12-31T23:59:59.999Z', false],
    ['2026-01-01T00:00:00.000Z', true],
    ['2026-12-31T23:59:59.999Z', true],
    ['2027-01-01T00:00:00.000Z', false],
  ])('at %s is good: %s', (now, good) => {
    expect('eligible' in at(now)).toBe(good);
    if (!good) expect(at(now)).toEqual({ refused: { code: 'company.certificate_missing' } });
  });
});

describe('a company without activities', () => {
  it('may use no line', () => {
    expect(selectLine({}, [], catalogue)).toEqual({ refused: 'nfse.cnae_not_allowed' });
    expect(selectLine({ serviceCode: '010101' }, [], catalogue)).toEqual({ refused: 'nfse.service_code_not_allowed' });
    expect(issuableActivities({ ...registration, activities: [] }, 'live', catalogue)).toEqual([]);
  });
});

describe('the main activity', () => {
  it('comes first wherever it stands in the file', () => {
    const activities = [
      { cnae: '6202300', isMain: false },
      { cnae: '6201501', isMain: true },
    ];
    expect(selectLine({}, activities, catalogue)).toMatchObject({ line: { cnae: '6201501' } });
    expect(selectLine({ serviceCode: '010401' }, activities, catalogue)).toMatchObject({ line: { cnae: '6201501' } });
  });

  it('gives way to another activity for a service code that it lacks', () => {
    const activities = [
      { cnae: '6201501', isMain: true },
      { cnae: '6203100', isMain: false },
    ];
    expect(selectLine({ serviceCode: '010501' }, activities, catalogue)).toMatchObject({ line: { cnae: '6203100' } });
  });
});

describe('of two lines with one CNAE and service code', () => {
  it('only the first is listed, for the second could never be issued', () => {
    const [first, second] = [line('6201501', '010101', { description: 'A' }), line('6201501', '010101')];
    const twice = { ...catalogue, linesOf: (cnae: string) => (cnae === '6201501' ? [first, second] : []) };
    expect(issuableActivities(registration, 'live', twice).map(({ description }) => description)).toEqual([
      '6201-5/01 A',
    ]);
  });
});
