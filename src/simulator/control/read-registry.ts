import type { Mode } from '../../domain/shared/ids.js';
import type { Benefit, Cnc, DeductionKind, RegistryChange, TaxRegime } from '../state/registry.js';
import { BadInput, flag, listOf, members, oneOf, type Read, textLike, whole } from './input.js';
import { CNPJ, MODES } from './read-fault.js';

/** Reads the body of `POST /_control/registry`; absent members leave the stored values unchanged. Throws `BadInput`. */
export const readRegistryChange = (body: unknown): { environment: Mode; change: RegistryChange } => {
  const fields = members(body);
  const environment = fields.required('environment', oneOf(MODES));
  const change = given({
    municipality: fields.optional('municipality', readMunicipality),
    company: fields.optional('company', readCompany),
    person: fields.optional('person', readPerson),
  });
  fields.done();
  if (Object.keys(change).length === 0) {
    throw new BadInput('municipality', 'municipality, company or person is required');
  }
  return { environment, change };
};

const IBGE = textLike(/^[0-9]{7}$/, 'an IBGE code of seven digits');
const CPF = textLike(/^[0-9]{11}$/, 'a CPF of 11 digits');
const DATE = textLike(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, 'a date such as 2026-01-31');
const SERVICE_CODE = textLike(/^[0-9]{6}$/, 'a service code of six digits');
const REGIMES: readonly TaxRegime[] = ['mei', 'simples', 'normal'];
const DEDUCTIONS: readonly DeductionKind[] = ['percent', 'value', 'documents'];

const readMunicipality: Read<NonNullable<RegistryChange['municipality']>> = (value, field) => {
  const fields = members(value, field);
  const entry = {
    ibge: fields.required('ibge', IBGE),
    adherent: fields.optional('adherent', flag),
    adherentSince: fields.optional('adherent_since', DATE),
    nationalEmitter: fields.optional('national_emitter', flag),
    registrationRequired: fields.optional('registration_required', flag),
    customerRequired: fields.optional('customer_required', flag),
    cancelDays: fields.optional('cancel_days', whole(0, 36_500)),
    cancelMaxAmountInCents: fields.optional('cancel_max_amount_in_cents', whole(0, Number.MAX_SAFE_INTEGER)),
    substitutionDays: fields.optional('substitution_days', whole(0, 36_500)),
    substitutionNeedsCustomer: fields.optional('substitution_needs_customer', flag),
    substitutionKeepsCustomer: fields.optional('substitution_keeps_customer', flag),
    serviceCodes: fields.optional('service_codes', listOf(SERVICE_CODE)),
    municipalCodes: fields.optional(
      'municipal_codes',
      listOf(textLike(/^[0-9]{9}$/, 'a national and a municipal code, nine digits')),
    ),
    nonIncidentCodes: fields.optional('non_incident_codes', listOf(SERVICE_CODE)),
    specialRegimes: fields.optional('special_regimes', listOf(textLike(/^[1-9]$/, 'a special regime from 1 to 9'))),
    deductions: fields.optional('deductions', listOf(oneOf(DEDUCTIONS))),
    benefits: fields.optional('benefits', listOf(readBenefit)),
    withholdingCpfs: fields.optional('withholding_cpfs', listOf(CPF)),
    postalCodes: fields.optional(
      'postal_codes',
      listOf(textLike(/^[0-9]{2,8}$/, 'a postal code or its beginning, two to eight digits')),
    ),
    rate: fields.optional('rate', textLike(/^[0-5]\.[0-9]{2}$/, 'a percent such as 5.00')),
  };
  fields.done();
  return given(entry);
};

const readBenefit: Read<Benefit> = (value, field) => {
  const fields = members(value, field);
  const entry = {
    number: fields.required('number', textLike(/^[0-9]{14}$/, 'a benefit number of 14 digits')),
    kind: fields.required('kind', oneOf(['exemption', 'rate', 'value', 'percent'] as const)),
    percent: fields.optional('percent', textLike(/^[0-9]{1,3}\.[0-9]{2}$/, 'a percent such as 50.00')),
    until: fields.optional('until', DATE),
    serviceCodes: fields.optional('service_codes', listOf(SERVICE_CODE)),
    cnpjs: fields.optional('cnpjs', listOf(CNPJ)),
    localOnly: fields.optional('local_only', flag),
  };
  fields.done();
  return given(entry);
};

const readCompany: Read<NonNullable<RegistryChange['company']>> = (value, field) => {
  const fields = members(value, field);
  const entry = {
    cnpj: fields.required('cnpj', CNPJ),
    cnc: fields.optional('cnc', readCnc),
    regime: fields.optional('regime', oneOf(REGIMES)),
    registered: fields.optional('registered', flag),
    since: fields.optional('since', DATE),
    municipality: fields.optional('municipality', IBGE),
  };
  fields.done();
  return given(entry);
};

const readPerson: Read<NonNullable<RegistryChange['person']>> = (value, field) => {
  const fields = members(value, field);
  const entry = {
    cpf: fields.required('cpf', CPF),
    registered: fields.optional('registered', flag),
    since: fields.optional('since', DATE),
  };
  fields.done();
  return given(entry);
};

const readCnc: Read<Cnc | null> = (value, field) => {
  if (value === null) return null;
  const fields = members(value, field);
  const entry = {
    municipalRegistration: fields.required(
      'municipal_registration',
      textLike(/^[0-9A-Za-z./-]{1,15}$/, 'a municipal registration of 1 to 15 characters'),
    ),
    since: fields.optional('since', DATE),
    emitterSince: fields.optional('emitter_since', DATE),
    authorized: fields.optional('authorized', flag),
    inactiveSince: fields.optional('inactive_since', DATE),
  };
  fields.done();
  return given(entry);
};

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The entry without its undefined members, so that merging keeps the stored values. */
const given = <T extends object>(entry: T): Given<T> =>
  Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Given<T>;
