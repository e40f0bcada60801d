import { type Canonical, element, field } from '../common/canonical-xml.js';
import type { CompanyId } from '../common/ids.js';
import { unreachable } from '../common/unreachable.js';
import type { IssuerFacts } from '../invoice/events.js';

/**
 * `prest`, the provider and emitter, by CNPJ (E0080, E0082). Name and address are left out, as the authorizer takes them from its
 * registries (E0121, E0128). `IM` is the one on file for the environment (E0116, E0119, E0120, E0124); a MEI is exempt from it, so leaving
 * it out is never refused (docs/national-system.md#municipal-registration).
 */
export const prest = (companyId: CompanyId, issuer: IssuerFacts, isIssqnDue: boolean): Canonical =>
  element(
    'prest',
    field('CNPJ', companyId),
    field('IM', issuer.taxRegime === 'mei' ? undefined : issuer.municipalRegistration),
    regTrib(issuer, isIssqnDue),
  );

/**
 * `prest/regTrib` (docs/national-system.md#tax-regimes). `opSimpNac`: 1 outside the Simples, 2 MEI, 3 ME/EPP, as registered for the month of
 * the competence (E0160). `regApTribSN`: only for a ME/EPP (E0162, E0166). `regEspTrib`: 0, or a regime that the municipality admits (E0176
 * to E0178), see `mayHaveSpecialRegime`.
 */
const regTrib = (issuer: IssuerFacts, isIssqnDue: boolean): Canonical => {
  const { opSimpNac, regApTribSN } = simples(issuer);
  return element(
    'regTrib',
    field('opSimpNac', opSimpNac),
    field('regApTribSN', regApTribSN),
    field('regEspTrib', isIssqnDue && mayHaveSpecialRegime(issuer) ? String(issuer.specialRegime) : '0'),
  );
};

const simples = (issuer: IssuerFacts): { opSimpNac: string; regApTribSN?: string } => {
  switch (issuer.taxRegime) {
    case 'normal':
      return { opSimpNac: '1' };
    case 'mei':
      return { opSimpNac: '2' };
    case 'simples':
      return { opSimpNac: '3', regApTribSN: ASSESSMENT[issuer.simplesAssessment] };
    default:
      return unreachable(issuer.taxRegime);
  }
};

/** 1 all taxes by the Simples, 2 only the federal taxes, 3 none of them. */
const ASSESSMENT = { all: '1', federal_only: '2', none: '3' } as const satisfies Record<
  IssuerFacts['simplesAssessment'],
  string
>;

/** A MEI (E0174) and ISSQN inside the Simples (E0175) exclude a special regime; E0172 forbids it where ISSQN is not due. */
export const mayHaveSpecialRegime = (issuer: Pick<IssuerFacts, 'taxRegime' | 'simplesAssessment'>): boolean =>
  issuer.taxRegime !== 'mei' && !(issuer.taxRegime === 'simples' && issuer.simplesAssessment === 'all');
