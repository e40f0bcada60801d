import { hasRateBenefit } from './beneficioMunicipal.js';
import {
  hasSpecialRegime,
  isAllInsideSimples,
  isIncidenceActive,
  isMeEpp,
  isMei,
  isOutsideSimples,
  isTaxable,
  isWithheld,
} from './facts.js';
import type { RuleContext, Rules } from './rule.js';

/** When the rate of the ISSQN must or must not be declared (annex I, field pAliq; docs/national-system.md#tax-regimes). */
export const pAliqRules: Rules = {
  E0595: ({ dps }) => dps.cents(P_ALIQ) > 5_00,
  E0600: (context) => isDeclared(context) && isMei(context),
  E0602: (context) => isDeclared(context) && !isTaxable(context),
  E0604: (context) => isDeclared(context) && hasSpecialRegime(context),
  E0612: (context) => isDeclared(context) && hasRateBenefit(context),
  E0617: (context) => isDeclared(context) && isOutsideSimples(context) && isIncidenceActive(context),
  E0619: (context) =>
    !isDeclared(context) &&
    isTaxable(context) &&
    isOutsideSimples(context) &&
    !isIncidenceActive(context) &&
    !hasSpecialRegime(context),
  E0621: (context) =>
    isLowForSimples(context) && isWithheldInSimples(context) && isIncidenceActive(context) && !hasRateBenefit(context),
  E0625: (context) =>
    isDeclared(context) &&
    isAllInsideSimples(context) &&
    !isWithheld(context) &&
    isIncidenceActive(context) &&
    !hasRateBenefit(context),
  E0628: (context) => isLowForSimples(context) && isWithheldInSimples(context) && !isIncidenceActive(context),
  E0631: (context) =>
    isDeclared(context) && isAllInsideSimples(context) && !isWithheld(context) && !isIncidenceActive(context),
  E0635: (context) => isDeclared(context) && isIssqnOutsideSimples(context) && isIncidenceActive(context),
  E0640: (context) =>
    !isDeclared(context) &&
    isTaxable(context) &&
    isIssqnOutsideSimples(context) &&
    !isIncidenceActive(context) &&
    !hasSpecialRegime(context),
};

const P_ALIQ = 'valores/trib/tribMun/pAliq';

const isDeclared = ({ dps }: RuleContext): boolean => dps.has(P_ALIQ);

/** Without a taxable operation E0602 refuses the rate, so E0621 and E0628 must not demand it. */
const isWithheldInSimples = (context: RuleContext): boolean =>
  isTaxable(context) && isAllInsideSimples(context) && isWithheld(context);

/** regApTribSN 2 or 3. */
const isIssqnOutsideSimples = (context: RuleContext): boolean => isMeEpp(context) && !isAllInsideSimples(context);

/** True for a rate that is absent, or below 1.8 percent, the lowest rate of the Simples. */
const isLowForSimples = ({ dps }: RuleContext): boolean => dps.cents(P_ALIQ) < 1_80;
