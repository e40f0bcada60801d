import type { Cents } from '../../domain/shared/money.js';
import {
  benefit,
  conditionalDiscount,
  deduction,
  issqnBase,
  percentOf,
  unconditionalDiscount,
  withheldFederal,
} from './amounts.js';
import { isMeEpp, isMei, isOutsideSimples, isWithheld } from './facts.js';
import { isBelowMinimum } from './minimum.js';
import type { Rule, RuleContext } from './rule.js';

/** Amount and discounts (annex I, groups vServPrest and vDescCondIncond). */
export const valoresRules: readonly Rule[] = [
  { code: 'E0424', broken: ({ dps }) => dps.text('tpEmit') !== '3' && dps.has('valores/vServPrest/vReceb') },
  {
    code: 'E0427',
    broken: ({ dps }) => dps.amountInCents < unconditionalDiscount(dps) + deduction(dps) + benefit(dps),
  },
  { code: 'E0428', broken: (context) => context.dps.amountInCents < everythingTaken(context) },
  {
    code: 'E0429',
    broken: (context) => isBelowMinimum(context, deduction(context.dps) + benefit(context.dps)),
  },
  { code: 'E0431', broken: (context) => isOutOfRange(context, 'vDescIncond') },
  { code: 'E0432', broken: (context) => isOutOfRange(context, 'vDescCond') },
];

const everythingTaken = (context: RuleContext): Cents => {
  const { dps, incidence } = context;
  const rate = dps.text('valores/trib/tribMun/pAliq') ?? incidence.rate;
  const issqn = isWithheld(context) && rate !== undefined ? percentOf(issqnBase(dps), rate) : 0;
  const reductions = unconditionalDiscount(dps) + conditionalDiscount(dps) + deduction(dps) + benefit(dps);
  return reductions + withheldFederal(dps) + issqn;
};

/** A discount must be above zero and below the amount of the service. */
const isOutOfRange = ({ dps }: RuleContext, name: string): boolean => {
  const path = `valores/vDescCondIncond/${name}`;
  return dps.has(path) && (dps.cents(path) === 0 || dps.cents(path) >= dps.amountInCents);
};

/** Approximate taxes of Lei 12.741 (annex I, group totTrib). */
export const totTribRules: readonly Rule[] = [
  { code: 'E0702', broken: (context) => isAboveAmount(context, 'vTotTribFed') },
  { code: 'E0703', broken: (context) => isAboveAmount(context, 'vTotTribEst') },
  { code: 'E0704', broken: (context) => isAboveAmount(context, 'vTotTribMun') },
  { code: 'E0706', broken: (context) => isAboveHundred(context, 'pTotTribFed') },
  { code: 'E0707', broken: (context) => isAboveHundred(context, 'pTotTribEst') },
  { code: 'E0708', broken: (context) => isAboveHundred(context, 'pTotTribMun') },
  { code: 'E0710', broken: (context) => isMei(context) && has(context, 'pTotTribSN') },
  { code: 'E0712', broken: (context) => isMeEpp(context) && has(context, 'indTotTrib') },
  {
    code: 'E0713',
    broken: (context) => isOutsideSimples(context) && (has(context, 'indTotTrib') || has(context, 'pTotTribSN')),
  },
];

const TOTAL = 'valores/trib/totTrib';

const has = ({ dps }: RuleContext, name: string): boolean => dps.has(`${TOTAL}/${name}`);

const isAboveAmount = ({ dps }: RuleContext, name: string): boolean =>
  dps.cents(`${TOTAL}/vTotTrib/${name}`) > dps.amountInCents;

const isAboveHundred = ({ dps }: RuleContext, name: string): boolean => dps.cents(`${TOTAL}/pTotTrib/${name}`) > 100_00;
