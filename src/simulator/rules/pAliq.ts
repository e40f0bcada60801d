import { hasRateBenefit } from './benefits.js';
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
import type { Rule, RuleContext } from './rule.js';

/** When the rate of the ISSQN must or must not be declared (annex I, field pAliq; docs/national-system.md#tax-regimes). */
export const pAliqRules: readonly Rule[] = [
  { code: 'E0595', broken: ({ dps }) => dps.cents(P_ALIQ) > 5_00 },
  { code: 'E0600', broken: (context) => isDeclared(context) && isMei(context) },
  { code: 'E0602', broken: (context) => isDeclared(context) && !isTaxable(context) },
  { code: 'E0604', broken: (context) => isDeclared(context) && hasSpecialRegime(context) },
  { code: 'E0612', broken: (context) => isDeclared(context) && hasRateBenefit(context) },
  {
    code: 'E0617',
    broken: (context) => isDeclared(context) && isOutsideSimples(context) && isIncidenceActive(context),
  },
  {
    code: 'E0619',
    broken: (context) =>
      !isDeclared(context) &&
      isTaxable(context) &&
      isOutsideSimples(context) &&
      !isIncidenceActive(context) &&
      !hasSpecialRegime(context),
  },
  {
    code: 'E0621',
    broken: (context) =>
      isLowForSimples(context) &&
      isWithheldInSimples(context) &&
      isIncidenceActive(context) &&
      !hasRateBenefit(context),
  },
  {
    code: 'E0625',
    broken: (context) =>
      isDeclared(context) &&
      isAllInsideSimples(context) &&
      !isWithheld(context) &&
      isIncidenceActive(context) &&
      !hasRateBenefit(context),
  },
  {
    code: 'E0628',
    broken: (context) => isLowForSimples(context) && isWithheldInSimples(context) && !isIncidenceActive(context),
  },
  {
    code: 'E0631',
    broken: (context) =>
      isDeclared(context) && isAllInsideSimples(context) && !isWithheld(context) && !isIncidenceActive(context),
  },
  {
    code: 'E0635',
    broken: (context) => isDeclared(context) && isIssqnOutsideSimples(context) && isIncidenceActive(context),
  },
  {
    code: 'E0640',
    broken: (context) =>
      !isDeclared(context) &&
      isTaxable(context) &&
      isIssqnOutsideSimples(context) &&
      !isIncidenceActive(context) &&
      !hasSpecialRegime(context),
  },
];

const P_ALIQ = 'valores/trib/tribMun/pAliq';

const isDeclared = ({ dps }: RuleContext): boolean => dps.has(P_ALIQ);

/** Without a taxable operation E0602 refuses the rate, so E0621 and E0628 must not demand it. */
const isWithheldInSimples = (context: RuleContext): boolean =>
  isTaxable(context) && isAllInsideSimples(context) && isWithheld(context);

/** regApTribSN 2 or 3. */
const isIssqnOutsideSimples = (context: RuleContext): boolean => isMeEpp(context) && !isAllInsideSimples(context);

/** True for a rate that is absent, or below 1.8 percent, the lowest rate of the Simples. */
const isLowForSimples = ({ dps }: RuleContext): boolean => dps.cents(P_ALIQ) < 1_80;
