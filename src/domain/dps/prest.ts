import type { IssuerFacts } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import type { CompanyId } from '../shared/ids.js';
import { regTrib } from './regTrib.js';

/**
 * `prest`, the provider and emitter, by its CNPJ (E0080, E0082): no name and no address, the authorizer takes them from its
 * registries (E0121, E0128). `IM` as on file for the environment (E0116, E0119, E0120, E0124); a MEI is exempt from it, so
 * leaving it out can never be refused (domain.md 9.2).
 */
export const prest = (companyId: CompanyId, issuer: IssuerFacts, isIssqnDue: boolean): Canonical =>
  element(
    'prest',
    field('CNPJ', companyId),
    field('IM', issuer.taxRegime === 'mei' ? undefined : issuer.municipalRegistration),
    regTrib(issuer, isIssqnDue),
  );
