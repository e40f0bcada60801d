import type { IssuerFacts } from '../invoice/events.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { type Cents, decimalFromCents } from '../shared/money.js';
import { unreachable } from '../shared/unreachable.js';

/**
 * `valores`: the amount and its taxes. ISSQN is due (1) or exported (3), never withheld; no rate is declared, the
 * authorizer uses the municipality's (domain.md 9.5). `resultCountry` is set for exports only (E0590, E0591).
 */
export const valores = (amount: Cents, issuer: IssuerFacts, resultCountry: string | undefined): Canonical =>
  element(
    'valores',
    element('vServPrest', field('vServ', decimalFromCents(amount))),
    element('trib', tribMun(resultCountry), element('totTrib', totTrib(issuer))),
  );

const tribMun = (resultCountry: string | undefined): Canonical =>
  element(
    'tribMun',
    field('tribISSQN', resultCountry === undefined ? '1' : '3'),
    field('cPaisResult', resultCountry),
    field('tpRetISSQN', '1'),
  );

/**
 * The approximate taxes of Lei 12.741, in the one form that each regime may use (E0710, E0712, E0713). Outside the
 * Simples the company's single percentage is declared as federal, for nobody has divided it.
 */
const totTrib = (issuer: IssuerFacts): Canonical => {
  const percent = issuer.approximateTaxPercent ?? NONE;
  switch (issuer.taxRegime) {
    case 'mei':
      return field('indTotTrib', '0');
    case 'simples':
      return field('pTotTribSN', percent);
    case 'normal':
      return element('pTotTrib', field('pTotTribFed', percent), field('pTotTribEst', NONE), field('pTotTribMun', NONE));
    default:
      return unreachable(issuer.taxRegime);
  }
};

const NONE = '0.00';
