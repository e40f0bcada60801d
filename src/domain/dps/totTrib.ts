import type { IssuerFacts } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { unreachable } from '../shared/unreachable.js';

/**
 * `valores/trib/totTrib`, the approximate taxes of Lei 12.741, in the one form that each regime may use (E0710, E0712,
 * E0713). Outside the Simples the company's single percentage is declared as federal, for nobody has divided it.
 */
export const totTrib = (issuer: IssuerFacts): Canonical => element('totTrib', form(issuer));

const form = ({ taxRegime, approximateTaxPercent: percent = NONE }: IssuerFacts): Canonical => {
  switch (taxRegime) {
    case 'mei':
      return field('indTotTrib', '0');
    case 'simples':
      return field('pTotTribSN', percent);
    case 'normal':
      return element('pTotTrib', field('pTotTribFed', percent), field('pTotTribEst', NONE), field('pTotTribMun', NONE));
    default:
      return unreachable(taxRegime);
  }
};

const NONE = '0.00';
