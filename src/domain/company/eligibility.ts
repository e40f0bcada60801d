import type { CatalogueLine } from '../catalog/events.js';
import type { Refusal } from '../common/error-catalogue.js';
import type { Mode } from '../common/ids.js';
import type { Cents } from '../common/money.js';
import { present } from '../common/present.js';
import { type Instant, isBefore } from '../common/time.js';
import type { Customer, ForeignAddress, ForeignAmount, IbsCbs, IssuerFacts, ServiceLine } from '../invoice/events.js';
import type { Company } from './company.js';
import { chosenMunicipalCode } from './events.js';
import { type Catalogue, selectLine } from './line-selection.js';

/** The body of `POST /v1/nfse` after its schema: types and formats hold; rules across fields and registries are unchecked. */
export type IssueRequest = {
  amountInCents: Cents;
  description: string;
  customer?: {
    type?: 'br' | 'foreign';
    document?: string;
    name?: string;
    taxId?: string;
    taxIdAbsenceReason?: 'exempt' | 'not_required';
    address?: Partial<ForeignAddress>;
  };
  foreignAmount?: { currency?: string; amountInCents?: Cents };
  reference?: string;
  cnae?: string;
  serviceCode?: string;
};

/** What tables and registries say at this instant. */
export type EligibilityFacts = {
  mode: Mode;
  now: Instant;
  company: Company;
  /** Undefined when city and state resolve to no IBGE code. */
  municipality:
    | {
        ibge: string;
        requiresCustomer: boolean;
        requiresRegistration: boolean;
        /** The only municipal code of a service there, where that is known. */
        onlyMunicipalCode?(serviceCode: string): string | undefined;
      }
    | undefined;
  catalogue: Catalogue;
  isCountry(code: string): boolean;
  isCurrency(code: string): boolean;
  currencies: readonly string[];
};

export type Eligible = {
  line: ServiceLine;
  issuer: IssuerFacts;
  customer?: Customer;
  foreignAmount?: ForeignAmount;
  ibsCbs?: IbsCbs;
};

/** The 422 rules in the order of POST-responses; the first broken rule answers. `line` is the catalogue's, of which the invoice records a part. */
export const checkEligibility = (
  request: IssueRequest,
  facts: EligibilityFacts,
): { eligible: Eligible; line: CatalogueLine } | { refused: Refusal } => {
  const { company, mode, municipality, catalogue } = facts;
  const { registration } = company;
  if (!registration.automaticIssuance) return { refused: { code: 'company.issuer_not_enabled' } };
  if (!registration.issuerConfigured) return { refused: { code: 'company.issuer_not_configured' } };
  if (!registration.issuerApproved) return { refused: { code: 'company.issuer_not_approved' } };
  if (!hasValidCertificate(company, facts.now)) return { refused: { code: 'company.certificate_missing' } };
  if (municipality === undefined) return { refused: { code: 'nfse.municipality_not_covered' } };

  const selected = selectLine(request, registration.activities, catalogue);
  if ('refused' in selected) return { refused: { code: selected.refused } };
  const { line } = selected;
  if (line.nbs === undefined) return { refused: { code: 'nfse.cnae_missing_nbs' } };
  if (mode === 'test' && !catalogue.isNbs(line.nbs)) return { refused: { code: 'nfse.nbs_invalid' } };

  const municipalRegistration = registration.municipalRegistration[mode];
  if (mode === 'test' && municipality.requiresRegistration && municipalRegistration === undefined) {
    return { refused: { code: 'nfse.municipal_registration_missing' } };
  }
  const customer = customerOf(request, facts, municipality.requiresCustomer);
  if ('refused' in customer) return customer;

  const { cnae, serviceCode, nbs } = line;
  const municipalCode = chosenMunicipalCode(registration, serviceCode) ?? municipality.onlyMunicipalCode?.(serviceCode);
  return {
    eligible: {
      ...customer,
      line: present({ cnae, serviceCode, nbs, municipalCode }),
      issuer: present({
        municipality: municipality.ibge,
        taxRegime: registration.taxRegime,
        simplesAssessment: registration.simplesAssessment,
        specialRegime: registration.specialRegime,
        approximateTaxPercent: registration.approximateTaxPercent,
        municipalRegistration,
      }),
    },
    line,
  };
};

/** Whether the company can issue with its certificate at this instant, as far as its own facts say. */
export const hasValidCertificate = ({ certificate }: Company, now: Instant): boolean =>
  certificate !== undefined &&
  certificate.unusable === undefined &&
  !isBefore(now, certificate.notBefore) &&
  isBefore(now, certificate.notAfter);

type Facts = Pick<EligibilityFacts, 'isCountry' | 'isCurrency' | 'currencies'>;
type Checked = { customer?: Customer; foreignAmount?: ForeignAmount } | { refused: Refusal };

/** The rules for customer and foreign amount, in the order of POST-responses; without a broken rule, both as they are recorded. */
export const customerOf = (request: IssueRequest, facts: Facts, requiresCustomer: boolean): Checked => {
  const conflicting = conflictingFields(request);
  if (conflicting.length > 0) {
    const message = conflictMessage(request.customer?.type, conflicting.join(', '));
    return { refused: { code: 'nfse.customer_type_conflict', message, ...firstParam(conflicting) } };
  }
  return request.customer?.type === 'foreign'
    ? foreignCustomer(request, facts)
    : domesticCustomer(request, requiresCustomer);
};

/** Who sends no type may not know that it is `br` then. */
const conflictMessage = (declared: string | undefined, fields: string): string =>
  declared === undefined
    ? `Sem customer.type, o cliente é br (o padrão), que não tem estes campos: ${fields}. Numa exportação, envie customer.type foreign; senão, remova-os.`
    : `Campos incompatíveis com o customer.type declarado: ${fields}. Remova-os ou corrija o tipo do cliente.`;

const conflictingFields = ({ customer, foreignAmount }: IssueRequest): string[] => {
  const forbidden =
    customer?.type === 'foreign'
      ? { 'customer.document': customer.document }
      : {
          'customer.address': customer?.address,
          'customer.tax_id': customer?.taxId,
          'customer.tax_id_absence_reason': customer?.taxIdAbsenceReason,
          foreign_amount: foreignAmount,
        };
  return Object.keys(present(forbidden));
};

const foreignCustomer = (request: IssueRequest, facts: Facts): Checked => {
  const { customer, foreignAmount } = request;
  const missing = missingExportFields(request);
  if (missing.some((field) => field !== FOREIGN_AMOUNT)) {
    const message = `Faltam campos obrigatórios da exportação: ${missing.map(withSubstitute).join(', ')}. Envie todos.`;
    return { refused: { code: 'nfse.export_incomplete', message, ...firstParam(missing) } };
  }
  const { name, taxId, taxIdAbsenceReason, address } = customer ?? {};
  if (address === undefined || !isComplete(address) || !facts.isCountry(address.country))
    return { refused: { code: 'nfse.country_unsupported' } };
  const { currency, amountInCents } = foreignAmount ?? {};
  if (currency === undefined || !facts.isCurrency(currency)) {
    const message = `A moeda não é aceita. Use um destes códigos, em maiúsculas: ${facts.currencies.join(', ')}.`;
    return { refused: { code: 'nfse.currency_unsupported', message } };
  }
  if (amountInCents === undefined || amountInCents <= 0) return { refused: { code: 'nfse.foreign_amount_invalid' } };
  return {
    customer: present({ type: 'foreign' as const, name, taxId, taxIdAbsenceReason, address }),
    foreignAmount: { currency, amountInCents },
  };
};

/** When only this is missing, CODE-nfse.foreign_amount_invalid is the answer. */
const FOREIGN_AMOUNT = 'foreign_amount.amount_in_cents';

/** All required fields that are absent (CODE-nfse.export_incomplete). */
const missingExportFields = ({ customer, foreignAmount }: IssueRequest): string[] => {
  const address = customer?.address;
  return [
    ...absent({ 'customer.name': customer?.name, 'customer.tax_id': customer?.taxId ?? customer?.taxIdAbsenceReason }),
    ...(address === undefined ? ['customer.address'] : missingAddressFields(address)),
    ...(foreignAmount === undefined
      ? ['foreign_amount']
      : absent({
          'foreign_amount.currency': foreignAmount.currency,
          [FOREIGN_AMOUNT]: foreignAmount.amountInCents,
        })),
  ];
};

/** A stated reason for the lack of a tax id replaces it (POSTC-tax_id). */
const withSubstitute = (field: string): string =>
  field === 'customer.tax_id' ? `${field} (ou customer.tax_id_absence_reason)` : field;

const absent = (fields: Record<string, unknown>): string[] =>
  Object.keys(fields).filter((name) => fields[name] === undefined);

const missingAddressFields = (address: Partial<ForeignAddress>): string[] => {
  const { street, number, district, city, state, postalCode: postal_code, country } = address;
  const names = absent({ street, number, district, city, state, postal_code, country });
  return names.map((name) => `customer.address.${name}`);
};

const isComplete = (address: Partial<ForeignAddress>): address is ForeignAddress =>
  missingAddressFields(address).length === 0;

const domesticCustomer = ({ customer }: IssueRequest, requiresCustomer: boolean): Checked => {
  if (requiresCustomer && customer?.document === undefined) return { refused: { code: 'nfse.customer_required' } };
  if (customer?.document?.length === 11 && customer.name === undefined)
    return { refused: { code: 'nfse.customer_name_required' } };
  if (customer === undefined || (customer.document === undefined && customer.name === undefined)) return {};
  const { document, name } = customer;
  return { customer: present({ type: 'br' as const, document, name }) };
};

const firstParam = (fields: readonly string[]): { param?: string } =>
  fields[0] === undefined ? {} : { param: fields[0] };
