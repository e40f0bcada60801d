import type { DeductionKind } from '../state/registry.js';
import { deduction } from './amounts.js';
import { hasExemption } from './benefits.js';
import { hasSpecialRegime, isAllInsideSimples, isIncidenceActive, isMei, isTaxable } from './facts.js';
import { isBelowMinimum } from './minimum.js';
import type { Rule, RuleContext } from './rule.js';
import { DEDUCTIBLE_IN_SIMPLES } from './service-lists.js';

/** Deductions from the base of the ISSQN (annex I, group vDedRed). */
export const vDedRedRules: readonly Rule[] = [
  { code: 'E0435', broken: (context) => hasDeduction(context) && !isTaxable(context) },
  { code: 'E0436', broken: (context) => hasDeduction(context) && isMei(context) },
  { code: 'E0438', broken: (context) => hasDeduction(context) && hasSpecialRegime(context) },
  { code: 'E0439', broken: (context) => hasDeduction(context) && hasExemption(context) },
  { code: 'E0441', broken: (context) => isBarredInSimples(context) && isIncidenceActive(context) },
  { code: 'E0442', broken: (context) => isBarredInSimples(context) && !isIncidenceActive(context) },
  { code: 'E0444', broken: (context) => has(context, 'percent') && isBelowMinimum(context, deduction(context.dps)) },
  { code: 'E0446', broken: (context) => has(context, 'value') && !isAdmitted(context, 'value') },
  { code: 'E0447', broken: (context) => has(context, 'value') && isBelowMinimum(context, deduction(context.dps)) },
  { code: 'E0449', broken: (context) => has(context, 'documents') && !isAdmitted(context, 'documents') },
  {
    code: 'E0453',
    broken: (context) => {
      const percent = context.dps.cents(PATHS.percent);
      return has(context, 'percent') && (percent === 0 || percent > 100_00);
    },
  },
  { code: 'E0454', broken: (context) => has(context, 'percent') && !isAdmitted(context, 'percent') },
];

const PATHS: Record<DeductionKind, string> = {
  percent: 'valores/vDedRed/pDR',
  value: 'valores/vDedRed/vDR',
  documents: 'valores/vDedRed/documentos',
};

const hasDeduction = ({ dps }: RuleContext): boolean => dps.has('valores/vDedRed');

const has = ({ dps }: RuleContext, kind: DeductionKind): boolean => dps.has(PATHS[kind]);

const isAdmitted = ({ incidence }: RuleContext, kind: DeductionKind): boolean =>
  incidence.deductions?.includes(kind) !== false;

const isBarredInSimples = (context: RuleContext): boolean =>
  hasDeduction(context) && isAllInsideSimples(context) && !DEDUCTIBLE_IN_SIMPLES.has(context.dps.serviceCode);
