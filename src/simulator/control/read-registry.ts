import * as v from 'valibot';
import type { Mode } from '../../domain/common/ids.js';
import { isDay } from '../../domain/common/time.js';
import type { RegistryChange } from '../state/registry.js';
import { BadInput, CNPJ, flag, listOf, MODE, members, oneOf, read, rightText, textLike, whole } from './input.js';

const IBGE = textLike(/^[0-9]{7}$/, 'an IBGE code of seven digits');
const CPF = textLike(/^[0-9]{11}$/, 'a CPF of 11 digits');
const DATE = rightText(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, isDay, 'a date of the calendar such as 2026-01-31');
const PERCENT = /^[0-9]{1,3}\.[0-9]{2}$/;
const BENEFIT_PERCENT = rightText(PERCENT, (text) => Number(text) <= 100, 'a percent to 100.00, such as 50.00');
// More than 5 % is forbidden (E0595).
const RATE = rightText(PERCENT, (text) => Number(text) <= 5, 'a percent to 5.00, such as 2.50');
const SERVICE_CODE = textLike(/^[0-9]{6}$/, 'a service code of six digits');

const BENEFIT = members({
  number: textLike(/^[0-9]{14}$/, 'a benefit number of 14 digits'),
  kind: oneOf(['exemption', 'rate', 'value', 'percent']),
  percent: v.exactOptional(BENEFIT_PERCENT),
  until: v.exactOptional(DATE),
  service_codes: v.exactOptional(listOf(SERVICE_CODE)),
  cnpjs: v.exactOptional(listOf(CNPJ)),
  local_only: v.exactOptional(flag),
});

const MUNICIPALITY = members({
  ibge: IBGE,
  adherent: v.exactOptional(flag),
  adherent_since: v.exactOptional(DATE),
  national_emitter: v.exactOptional(flag),
  registration_required: v.exactOptional(flag),
  customer_required: v.exactOptional(flag),
  cancel_days: v.exactOptional(whole(0, 36_500)),
  cancel_max_amount_in_cents: v.exactOptional(whole(0, Number.MAX_SAFE_INTEGER)),
  substitution_days: v.exactOptional(whole(0, 36_500)),
  substitution_needs_customer: v.exactOptional(flag),
  substitution_keeps_customer: v.exactOptional(flag),
  service_codes: v.exactOptional(listOf(SERVICE_CODE)),
  municipal_codes: v.exactOptional(listOf(textLike(/^[0-9]{9}$/, 'a national and a municipal code, nine digits'))),
  non_incident_codes: v.exactOptional(listOf(SERVICE_CODE)),
  special_regimes: v.exactOptional(listOf(textLike(/^[1-9]$/, 'a special regime from 1 to 9'))),
  deductions: v.exactOptional(listOf(oneOf(['percent', 'value', 'documents']))),
  benefits: v.exactOptional(listOf(BENEFIT)),
  withholding_cpfs: v.exactOptional(listOf(CPF)),
  postal_codes: v.exactOptional(
    listOf(textLike(/^[0-9]{2,8}$/, 'a postal code or its beginning, two to eight digits')),
  ),
  rate: v.exactOptional(RATE),
});

const CNC = members({
  municipal_registration: textLike(/^[0-9A-Za-z./-]{1,15}$/, 'a municipal registration of 1 to 15 characters'),
  since: v.exactOptional(DATE),
  emitter_since: v.exactOptional(DATE),
  authorized: v.exactOptional(flag),
  inactive_since: v.exactOptional(DATE),
});

const COMPANY = members({
  cnpj: CNPJ,
  cnc: v.exactOptional(v.nullable(CNC)),
  regime: v.exactOptional(oneOf(['mei', 'simples', 'normal'])),
  registered: v.exactOptional(flag),
  since: v.exactOptional(DATE),
  municipality: v.exactOptional(IBGE),
});

const PERSON = members({ cpf: CPF, registered: v.exactOptional(flag), since: v.exactOptional(DATE) });

const REQUEST = members({
  environment: MODE,
  municipality: v.exactOptional(MUNICIPALITY),
  company: v.exactOptional(COMPANY),
  person: v.exactOptional(PERSON),
});

/** Reads the body of `POST /_control/registry`; absent members leave the stored values unchanged. Throws `BadInput`. */
export const readRegistryChange = (body: unknown): { environment: Mode; change: RegistryChange } => {
  const { environment, ...change } = read(REQUEST, body);
  if (Object.keys(change).length === 0) {
    throw new BadInput('municipality', 'municipality, company or person is required');
  }
  return { environment, change };
};
