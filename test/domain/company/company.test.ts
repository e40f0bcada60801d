import { describe, expect, it } from 'vitest';
import { parseCompanyFile } from '../../../src/app/operator/company/company-file.js';
import {
  type CompanyState,
  companyFold,
  createApiKey,
  putCompany,
  revokeApiKey,
  switchCompany,
} from '../../../src/domain/company/company.js';
import type { CompanyEvent, Registration } from '../../../src/domain/company/events.js';
import { companyFileTables } from '../../../src/tables/catalogue.js';

const at = '2026-11-21T12:00:00.000Z';
const file = {
  cnpj: '12345678000195',
  legal_name: 'ESTUDIO EXEMPLO LTDA',
  city: 'Rio de Janeiro',
  state: 'RJ',
  tax_regime: 'simples',
  approximate_tax_percent: '6.00',
  municipal_registration: { live: '12345678', test: null },
  activities: [{ cnae: '6201501', is_main: true }],
  automatic_issuance: true,
  issuer_configured: true,
  issuer_approved: true,
};

const registrationOf = (json: unknown): Registration => {
  const parsed = parseCompanyFile(json, companyFileTables);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  return parsed.registration;
};

const problemsOf = (json: unknown): readonly string[] => {
  const parsed = parseCompanyFile(json, companyFileTables);
  return 'problems' in parsed ? parsed.problems : [];
};

const given = (...events: CompanyEvent[]): CompanyState => events.reduce(companyFold.evolve, companyFold.initial);
const registered: CompanyEvent = { type: 'CompanyRegistered', data: { registration: registrationOf(file), at } };

const taxes = { from: '2027-01-01', federal: '13.45', state: '0.00', municipal: '2.90' };

it('a company file with more than one event holds is refused', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...taxes, service_code: String(index).padStart(6, '0') }));
  const problem =
    'the file has more than 240 KiB, which is the most that is recorded at once: leave out what the company does not use';
  expect(problemsOf({ ...file, approximate_taxes: rows(3_000) })).toEqual([problem]);
  expect(problemsOf({ ...file, approximate_taxes: rows(1_000) })).toEqual([]);
});

describe('a company', () => {
  it('begins disabled, and a change leaves the switch as it is', () => {
    expect(given(registered)).toMatchObject({ enabled: false });
    const enabled = given(registered, { type: 'CompanyEnabled', data: { at } });
    const changed = registrationOf({ ...file, city: 'Niterói' });
    expect(
      given(
        registered,
        { type: 'CompanyEnabled', data: { at } },
        { type: 'CompanyChanged', data: { registration: changed, at } },
      ),
    ).toMatchObject({
      enabled: true,
      registration: { city: 'Niterói' },
    });
    expect(switchCompany(enabled, true, at)).toEqual({ events: [] });
  });

  it('put twice is recorded once, whatever the order of the stored keys', () => {
    const reordered = Object.fromEntries(Object.entries(registrationOf(file)).reverse()) as Registration;
    expect(putCompany(given(registered), reordered, at)).toEqual({ events: [] });
  });

  it('gets keys only when it is known; revoking twice is one event', () => {
    const key = {
      keyId: 'key_1',
      companyId: '12345678000195',
      mode: 'test' as const,
      scopes: ['nfse:read' as const],
      keyHash: 'h',
    };
    expect(createApiKey(companyFold.initial, key, at)).toHaveProperty('refused');
    const created: CompanyEvent = { type: 'ApiKeyCreated', data: { ...key, at } };
    expect(revokeApiKey(given(registered, created), 'key_1', at)).toMatchObject({
      events: [{ type: 'ApiKeyRevoked' }],
    });
    const revoked = given(registered, created, { type: 'ApiKeyRevoked', data: { keyId: 'key_1', at } });
    expect(revokeApiKey(revoked, 'key_1', at)).toEqual({ events: [] });
  });
});

describe('the company file', () => {
  it('is read with its defaults', () => {
    expect(registrationOf(file)).toMatchObject({
      simplesAssessment: 'all',
      specialRegime: 0,
      municipalRegistration: { live: '12345678' },
      dps: { live: { series: '1', nextNumber: 1 }, test: { series: '1', nextNumber: 1 } },
    });
  });

  it('is refused naming every unknown field and bad value', () => {
    const problems = problemsOf({
      ...file,
      cnpj: '12.345.678/0001',
      colour: 'red',
      tax_regime: 'none',
      special_regime: 7,
    }).join('\n');
    for (const name of ['cnpj', 'colour', 'tax_regime', 'special_regime']) expect(problems).toContain(name);
  });

  it.each([
    ['no main activity', { activities: [{ cnae: '6201501', is_main: false }] }],
    ['two main activities', { activities: [file.activities[0], { cnae: '6202300', is_main: true }] }],
    ['a series outside own software', { dps: { live: { series: '50000', next_number: 1 } } }],
    ['a padded series', { dps: { live: { series: '001', next_number: 1 } } }],
    ['a number of zero', { dps: { test: { series: '1', next_number: 0 } } }],
    ['a percent with one place', { approximate_tax_percent: '6.0' }],
    ['approximate taxes of a day that does not exist', { approximate_taxes: [{ ...taxes, from: '2027-02-30' }] }],
    [
      'approximate taxes without a part',
      { approximate_taxes: [{ from: '2027-01-01', federal: '1.00', state: '0.00' }] },
    ],
    ['approximate taxes that end before they begin', { approximate_taxes: [{ ...taxes, until: '2026-12-31' }] }],
    ['approximate taxes twice for one day', { approximate_taxes: [taxes, { ...taxes, from: '2027-06-01' }] }],
    ['the municipal code 000', { municipal_codes: { '010401': '000' } }],
    ['a municipal code of two digits', { municipal_codes: { '010401': '03' } }],
    ['a municipal code of no service', { municipal_codes: { '1.04': '003' } }],
    ['a name that no document can carry', { legal_name: 'A\u0001B' }],
    ['a name with half a character', { legal_name: 'A\ud800B' }],
  ])('is refused with %s', (_what, changed) => {
    expect(problemsOf({ ...file, ...changed })).not.toEqual([]);
  });

  it('is read with approximate taxes of one service beside those of all, and of later days', () => {
    const rows = [
      { ...taxes, until: '2027-06-30' },
      { ...taxes, from: '2027-07-01' },
      { ...taxes, service_code: '01.01.01' },
    ];
    expect(problemsOf({ ...file, approximate_taxes: rows })).toEqual([]);
  });

  it.each([[null], [[]], ['text'], [7]])('is refused when it is %j', (json) => {
    expect(problemsOf(json)).not.toEqual([]);
  });

  it('names an unknown field inside of a group, and what is wrong in the choices of IBS and CBS', () => {
    expect(problemsOf({ ...file, ibs_cbs: { colour: 1 } })).toEqual([
      'ibs_cbs.colour must be a group with ind_op or class_trib',
    ]);
    expect(problemsOf({ ...file, ibs_cbs: { declare: 'no', export_class_trib: '000001' } })).toEqual([
      'ibs_cbs.declare must be true or false',
      'ibs_cbs.export_class_trib must be 410004 or 410027',
    ]);
    expect(problemsOf({ ...file, ibs_cbs: { '0101': { ind_op: '100301' } } })).toEqual([
      'ibs_cbs.0101 is neither a field of ibs_cbs nor a service code of 6 digits',
    ]);
    const choice = { class_trib: '550016' };
    expect(problemsOf({ ...file, ibs_cbs: { '01.01.01': choice, '010101': choice } })).toEqual([
      'ibs_cbs.01.01.01: class_trib 550016 asks for class_trib_regular (E0965)',
      'ibs_cbs.010101: names a service that is there already',
      'ibs_cbs.010101: class_trib 550016 asks for class_trib_regular (E0965)',
    ]);
  });
});
