import type { Customer, ForeignAddress, ForeignAmount, IssuerFacts, ServiceLine } from '../invoice/facts.js';
import type { Refusal } from '../shared/error-catalogue.js';
import type { Mode } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';
import { isBefore } from '../shared/time.js';
import type { Company } from './company.js';
import { customerOf } from './customer-rules.js';
import { type Catalogue, selectLine } from './line-selection.js';

/** The body of `POST /v1/nfse` after its schema: types and formats hold, rules across fields and registries do not yet. */
export type IssueRequest = {
  amountInCents: number;
  description: string;
  customer?: {
    type?: 'br' | 'foreign';
    document?: string;
    name?: string;
    taxId?: string;
    taxIdAbsenceReason?: 'exempt' | 'not_required';
    address?: Partial<ForeignAddress>;
  };
  foreignAmount?: { currency?: string; amountInCents?: number };
  reference?: string;
  cnae?: string;
  serviceCode?: string;
};

/** What the tables and registries say at this moment. */
export type EligibilityFacts = {
  mode: Mode;
  now: Instant;
  company: Company;
  /** Undefined when city and state resolve to no IBGE code. */
  municipality: { ibge: string; requiresCustomer: boolean; requiresRegistration: boolean } | undefined;
  catalogue: Catalogue;
  isCountry(code: string): boolean;
  isCurrency(code: string): boolean;
  currencies: readonly string[];
};

export type Eligible = { line: ServiceLine; issuer: IssuerFacts; customer?: Customer; foreignAmount?: ForeignAmount };

/** The 422 rules, in the order of reading 49: the first broken one answers. */
export const checkEligibility = (
  request: IssueRequest,
  facts: EligibilityFacts,
): { eligible: Eligible } | { refused: Refusal } => {
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

  const { cnae, serviceCode, nbs, municipalCode } = line;
  const { approximateTaxPercent } = registration;
  return {
    eligible: {
      ...customer,
      line: { cnae, serviceCode, nbs, ...(municipalCode === undefined ? {} : { municipalCode }) },
      issuer: {
        municipality: municipality.ibge,
        taxRegime: registration.taxRegime,
        simplesAssessment: registration.simplesAssessment,
        specialRegime: registration.specialRegime,
        ...(approximateTaxPercent === undefined ? {} : { approximateTaxPercent }),
        ...(municipalRegistration === undefined ? {} : { municipalRegistration }),
      },
    },
  };
};

const hasValidCertificate = ({ certificate }: Company, now: Instant): boolean =>
  certificate !== undefined && !isBefore(now, certificate.notBefore) && isBefore(now, certificate.notAfter);
