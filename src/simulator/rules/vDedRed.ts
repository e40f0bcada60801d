import type { DeductionKind } from '../state/entries.js';
import { deduction } from './amounts.js';
import { hasExemption } from './benefits.js';
import { hasSpecialRegime, isAllInsideSimples, isIncidenceActive, isMei, isTaxable } from './facts.js';
import { isBelowMinimum } from './minimum.js';
import type { RuleContext, Rules } from './rule.js';
import { DEDUCTIBLE_IN_SIMPLES } from './service-lists.js';

/** Deductions from the base of the ISSQN (annex I, group vDedRed). */
export const vDedRedRules: Rules = {
  E0435: (context) => hasDeduction(context) && !isTaxable(context),
  E0436: (context) => hasDeduction(context) && isMei(context),
  E0438: (context) => hasDeduction(context) && hasSpecialRegime(context),
  E0439: (context) => hasDeduction(context) && hasExemption(context),
  E0441: (context) => isBarredInSimples(context) && isIncidenceActive(context),
  E0442: (context) => isBarredInSimples(context) && !isIncidenceActive(context),
  E0444: (context) => has(context, 'percent') && isBelowMinimum(context, deduction(context.dps)),
  E0446: (context) => has(context, 'value') && !isAdmitted(context, 'value'),
  E0447: (context) => has(context, 'value') && isBelowMinimum(context, deduction(context.dps)),
  E0449: (context) => has(context, 'documents') && !isAdmitted(context, 'documents'),
  E0453: (context) => {
    const percent = context.dps.cents(PATHS.percent);
    return has(context, 'percent') && (percent === 0 || percent > 100_00);
  },
  E0454: (context) => has(context, 'percent') && !isAdmitted(context, 'percent'),
};

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
