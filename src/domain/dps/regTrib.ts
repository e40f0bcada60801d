import type { IssuerFacts } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { unreachable } from '../shared/unreachable.js';

/**
 * `prest/regTrib`, the tax regimes (domain.md 9.2). `opSimpNac` 1 outside the Simples, 2 MEI, 3 ME/EPP, as registered for
 * the month of the competence (E0160); `regApTribSN` for a ME/EPP only (E0162, E0166); `regEspTrib` 0 or one that the
 * municipality admits (E0176 to E0178), see `maySpecial`.
 */
export const regTrib = (issuer: IssuerFacts, isIssqnDue: boolean): Canonical => {
  const { opSimpNac, regApTribSN } = simples(issuer);
  return element(
    'regTrib',
    field('opSimpNac', opSimpNac),
    field('regApTribSN', regApTribSN),
    field('regEspTrib', isIssqnDue && maySpecial(issuer) ? String(issuer.specialRegime) : '0'),
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

/** No special regime for a MEI (E0174), nor with ISSQN inside the Simples (E0175); E0172 forbids it where ISSQN is not due. */
const maySpecial = (issuer: IssuerFacts): boolean =>
  issuer.taxRegime !== 'mei' && !(issuer.taxRegime === 'simples' && issuer.simplesAssessment === 'all');
