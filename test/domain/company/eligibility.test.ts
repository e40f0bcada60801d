import { describe, expect, it } from 'vitest';
import { issuableActivities } from '../../../src/domain/company/activities.js';
import { checkEligibility, type EligibilityFacts, type IssueRequest } from '../../../src/domain/company/eligibility.js';
import type { Registration } from '../../../src/domain/company/events.js';
import { selectLine } from '../../../src/domain/company/line-selection.js';
import {
  address,
  catalogue,
  company,
  facts,
  foreign,
  line,
  lines,
  registration,
  request,
} from '../../support/fixture/company.js';

const codeOf = (sent: Partial<IssueRequest>, changed: Partial<EligibilityFacts> = {}): string => {
  const result = checkEligibility({ ...request, ...sent }, { ...facts, ...changed });
  return 'refused' in result ? result.refused.code : 'eligible';
};

const withRegistration = (changed: Partial<Registration>): Partial<EligibilityFacts> => ({
  company: { ...company, registration: { ...registration, ...changed } },
});

const { certificate, ...withoutCertificate } = company;
if (certificate === undefined) throw new Error('the company has a certificate');
const withUnusableCertificate = { ...company, certificate: { ...certificate, unusable: 'key_broken' } } as const;

describe('eligibility of the company', () => {
  it.each([
    ['company.issuer_not_enabled', withRegistration({ automaticIssuance: false })],
    ['company.issuer_not_configured', withRegistration({ issuerConfigured: false })],
    ['company.issuer_not_approved', withRegistration({ issuerApproved: false })],
    ['company.certificate_missing', { company: withoutCertificate }],
    ['company.certificate_missing', { company: withUnusableCertificate }],
    ['company.certificate_missing', { now: '2027-01-01T00:00:00.000Z' }],
    ['company.certificate_missing', { now: '2025-12-31T23:59:59.999Z' }],
    ['nfse.municipality_not_covered', { municipality: undefined }],
    ['eligible', {}],
  ])('%s', (code, changed) => {
    expect(codeOf({}, changed)).toBe(code);
  });
});

describe('line selection', () => {
  it.each<[string, Partial<IssueRequest>]>([
    ['eligible', {}],
    ['eligible', { cnae: '6201501', serviceCode: '010401' }],
    ['nfse.cnae_not_allowed', { cnae: '9602501' }],
    ['nfse.cnae_missing_ctribnac', { cnae: '6311900' }],
    ['nfse.cnae_without_default', { cnae: '6203100' }],
    ['nfse.cnae_not_allowed', { cnae: '6204000' }],
    ['nfse.cnae_missing_nbs', { cnae: '6209100' }],
    ['nfse.service_code_unknown', { serviceCode: '6201501' }],
    ['nfse.service_code_not_allowed', { serviceCode: '010901' }],
    ['nfse.service_code_not_allowed', { cnae: '6202300', serviceCode: '010101' }],
    ['nfse.service_code_not_allowed', { cnae: '6204000', serviceCode: '010601' }],
  ])('%s', (code, sent) => {
    expect(codeOf(sent)).toBe(code);
  });

  it('of a service code alone takes the main activity first, default or not', () => {
    const result = checkEligibility({ ...request, serviceCode: '010401' }, facts);
    expect(result).toMatchObject({ eligible: { line: { cnae: '6201501', serviceCode: '010401' } } });
  });

  it('looks at the official NBS table in test mode only', () => {
    expect(codeOf({ cnae: '6202300' }, { mode: 'test' })).toBe('nfse.nbs_invalid');
    expect(codeOf({ cnae: '6202300' })).toBe('eligible');
  });

  it('demands the municipal registration in test mode only', () => {
    const municipality = { ibge: '3304557', requiresCustomer: false, requiresRegistration: true };
    expect(codeOf({}, { mode: 'test', municipality })).toBe('nfse.municipal_registration_missing');
    expect(codeOf({}, { municipality })).toBe('eligible');
  });
});

describe('customer rules', () => {
  const requiresCustomer = { municipality: { ibge: '3304557', requiresCustomer: true, requiresRegistration: false } };

  it.each<[string, Partial<IssueRequest>, Partial<EligibilityFacts>]>([
    ['nfse.customer_type_conflict', { customer: { taxId: '1' } }, {}],
    ['nfse.customer_type_conflict', { foreignAmount: { currency: 'USD', amountInCents: 1 } }, {}],
    ['nfse.customer_type_conflict', { ...foreign, customer: { ...foreign.customer, document: '11111111000191' } }, {}],
    ['nfse.export_incomplete', { customer: { type: 'foreign' } }, {}],
    [
      'nfse.country_unsupported',
      { ...foreign, customer: { ...foreign.customer, address: { ...address, country: 'BR' } } },
      {},
    ],
    ['nfse.currency_unsupported', { ...foreign, foreignAmount: { currency: 'BRL', amountInCents: 1 } }, {}],
    ['nfse.foreign_amount_invalid', { ...foreign, foreignAmount: { currency: 'USD', amountInCents: 0 } }, {}],
    ['nfse.foreign_amount_invalid', { ...foreign, foreignAmount: { currency: 'USD' } }, {}],
    ['nfse.customer_required', {}, requiresCustomer],
    ['nfse.customer_required', { customer: { name: 'Maria' } }, requiresCustomer],
    ['eligible', foreign, requiresCustomer],
    ['nfse.customer_name_required', { customer: { document: '12345678909' } }, {}],
    ['eligible', { customer: { document: '11111111000191' } }, {}],
    ['eligible', { customer: {} }, {}],
  ])('%s', (code, sent, changed) => {
    expect(codeOf(sent, changed)).toBe(code);
  });

  it('names everything that an export lacks at once', () => {
    const result = checkEligibility({ ...request, customer: { type: 'foreign', address: { street: 'Main' } } }, facts);
    const message = 'refused' in result ? result.refused.message : '';
    for (const field of ['customer.name', 'customer.tax_id', 'customer.address.country', 'foreign_amount'])
      expect(message).toContain(field);
  });
});

describe('activities', () => {
  it.each(['live', 'test'] as const)('lists in %s mode exactly what can be issued', (mode) => {
    const listed = issuableActivities(registration, mode, catalogue);
    for (const { cnae, service_code: serviceCode } of listed)
      expect(codeOf({ cnae, serviceCode }, { mode })).toBe('eligible');
    const possible = lines.filter(({ cnae, serviceCode }) => codeOf({ cnae, serviceCode }, { mode }) === 'eligible');
    expect(listed.map(({ cnae, service_code }) => `${cnae}/${service_code}`).sort()).toEqual(
      possible.map(({ cnae, serviceCode }) => `${cnae}/${serviceCode}`).sort(),
    );
  });

  it('lists the default among lines of one code, which the code then selects', () => {
    const [first, preferred] = [
      line('6201501', '010101', { nbs: '115022000' }),
      line('6201501', '010101', { isDefault: true }),
    ];
    const twice = { ...catalogue, linesOf: () => [first, preferred] };
    const main = { ...registration, activities: registration.activities.slice(0, 1) };
    expect(issuableActivities(main, 'test', twice)).toMatchObject([{ service_code: '010101', is_default: true }]);
    expect(selectLine({ cnae: '6201501', serviceCode: '010101' }, main.activities, twice)).toEqual({ line: preferred });
    expect(selectLine({ serviceCode: '010101' }, main.activities, twice)).toEqual({ line: preferred });
  });

  it('begins each description with the masked CNAE', () => {
    expect(issuableActivities(registration, 'live', catalogue)[0]).toEqual({
      object: 'activity',
      cnae: '6201501',
      service_code: '010101',
      description: '6201-5/01 Serviço',
      is_main: true,
      is_default: true,
    });
  });
});
