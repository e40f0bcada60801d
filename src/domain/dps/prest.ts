import type { IssuerFacts } from '../invoice/events.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import type { CompanyId } from '../shared/ids.js';
import { unreachable } from '../shared/unreachable.js';

/**
 * `prest`, the provider and emitter: no name and no address, the authorizer takes them from its registries (E0121,
 * E0128). A MEI is exempt from the municipal registration, so leaving it out can never be refused (domain.md 9.2).
 */
export const prest = (companyId: CompanyId, issuer: IssuerFacts, isExport: boolean): Canonical =>
  element(
    'prest',
    field('CNPJ', companyId),
    field('IM', issuer.taxRegime === 'mei' ? undefined : issuer.municipalRegistration),
    regTrib(issuer, isExport),
  );

const regTrib = (issuer: IssuerFacts, isExport: boolean): Canonical => {
  const { opSimpNac, regApTribSN } = simples(issuer);
  return element(
    'regTrib',
    field('opSimpNac', opSimpNac),
    field('regApTribSN', regApTribSN),
    field('regEspTrib', maySpecial(issuer, isExport) ? String(issuer.specialRegime) : '0'),
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

/** 1 all taxes by the Simples, 2 the federal ones only, 3 none. */
const ASSESSMENT = { all: '1', federal_only: '2', none: '3' } as const satisfies Record<
  IssuerFacts['simplesAssessment'],
  string
>;

/** No special regime for a MEI (E0174), with ISSQN inside the Simples (E0175), or when ISSQN is not due (E0172). */
const maySpecial = (issuer: IssuerFacts, isExport: boolean): boolean =>
  !isExport && issuer.taxRegime !== 'mei' && !(issuer.taxRegime === 'simples' && issuer.simplesAssessment === 'all');
