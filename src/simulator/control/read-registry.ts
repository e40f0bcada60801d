import type { Mode } from '../../domain/shared/ids.js';
import type { RegistryChange, TaxRegime } from '../state/registry.js';
import { BadInput, flag, listOf, members, oneOf, type Read, textLike, whole } from './input.js';
import { CNPJ, MODES } from './read-fault.js';

/** Body of `POST /_control/registry`. Throws `BadInput`. Members that are absent stay as they are. */
export const readRegistryChange = (body: unknown): { environment: Mode; change: RegistryChange } => {
  const fields = members(body);
  const environment = fields.required('environment', oneOf(MODES));
  const municipality = fields.optional('municipality', readMunicipality);
  const company = fields.optional('company', readCompany);
  fields.done();
  if (municipality === undefined && company === undefined) {
    throw new BadInput('municipality', 'municipality or company is required');
  }
  return {
    environment,
    change: { ...(municipality !== undefined && { municipality }), ...(company !== undefined && { company }) },
  };
};

const readMunicipality: Read<NonNullable<RegistryChange['municipality']>> = (value, field) => {
  const fields = members(value, field);
  const entry = {
    ibge: fields.required('ibge', textLike(/^[0-9]{7}$/, 'an IBGE code of seven digits')),
    adherent: fields.optional('adherent', flag),
    nationalEmitter: fields.optional('national_emitter', flag),
    registrationRequired: fields.optional('registration_required', flag),
    customerRequired: fields.optional('customer_required', flag),
    cancelDays: fields.optional('cancel_days', whole(0, 36_500)),
    serviceCodes: fields.optional('service_codes', listOf(textLike(/^[0-9]{6}$/, 'a service code of six digits'))),
    rate: fields.optional('rate', textLike(/^[0-5]\.[0-9]{2}$/, 'a percent such as 5.00')),
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
  };
  fields.done();
  return given(entry);
};

const REGIMES: readonly TaxRegime[] = ['mei', 'simples', 'normal'];

const readCnc: Read<{ municipalRegistration: string } | null> = (value, field) => {
  if (value === null) return null;
  const fields = members(value, field);
  const municipalRegistration = fields.required(
    'municipal_registration',
    textLike(/^[0-9A-Za-z]{1,15}$/, 'a municipal registration of 1 to 15 characters'),
  );
  fields.done();
  return { municipalRegistration };
};

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without the members that were not given, so that merging leaves what is stored. */
const given = <T extends object>(entry: T): Given<T> =>
  Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Given<T>;
