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
import { isWithheld } from './facts.js';
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

/** A discount must be more than nothing and less than the service. */
const isOutOfRange = ({ dps }: RuleContext, name: string): boolean => {
  const path = `valores/vDescCondIncond/${name}`;
  return dps.has(path) && (dps.cents(path) === 0 || dps.cents(path) >= dps.amountInCents);
};
