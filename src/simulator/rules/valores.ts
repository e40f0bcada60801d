import type { Cents } from '../../domain/common/money.js';
import {
  benefit,
  conditionalDiscount,
  deduction,
  issqnBase,
  percentOf,
  unconditionalDiscount,
  withheldFederal,
} from './amounts.js';
import { isOutOfRange } from './checks.js';
import { isMeEpp, isMei, isOutsideSimples, isWithheld } from './facts.js';
import { isBelowMinimum } from './minimum.js';
import type { RuleContext, Rules } from './rule.js';

/** Amount and discounts (annex I, groups vServPrest and vDescCondIncond). */
export const valoresRules: Rules = {
  E0424: ({ dps }) => dps.text('tpEmit') !== '3' && dps.has('valores/vServPrest/vReceb'),
  E0427: ({ dps }) => dps.amountInCents < unconditionalDiscount(dps) + deduction(dps) + benefit(dps),
  E0428: (context) => context.dps.amountInCents < everythingTaken(context),
  E0429: (context) => isBelowMinimum(context, deduction(context.dps) + benefit(context.dps)),
  E0431: ({ dps }) => isOutOfRange(dps, 'valores/vDescCondIncond/vDescIncond'),
  E0432: ({ dps }) => isOutOfRange(dps, 'valores/vDescCondIncond/vDescCond'),
};

const everythingTaken = (context: RuleContext): Cents => {
  const { dps, incidence } = context;
  const rate = dps.text('valores/trib/tribMun/pAliq') ?? incidence.rate;
  const issqn = isWithheld(context) && rate !== undefined ? percentOf(issqnBase(dps), rate) : 0;
  const reductions = unconditionalDiscount(dps) + conditionalDiscount(dps) + deduction(dps) + benefit(dps);
  return reductions + withheldFederal(dps) + issqn;
};

/** Approximate taxes of Lei 12.741 (annex I, group totTrib). */
export const totTribRules: Rules = {
  E0702: (context) => isAboveAmount(context, 'vTotTribFed'),
  E0703: (context) => isAboveAmount(context, 'vTotTribEst'),
  E0704: (context) => isAboveAmount(context, 'vTotTribMun'),
  E0706: (context) => isAboveHundred(context, 'pTotTribFed'),
  E0707: (context) => isAboveHundred(context, 'pTotTribEst'),
  E0708: (context) => isAboveHundred(context, 'pTotTribMun'),
  E0710: (context) => isMei(context) && has(context, 'pTotTribSN'),
  E0712: (context) => isMeEpp(context) && has(context, 'indTotTrib'),
  E0713: (context) => isOutsideSimples(context) && (has(context, 'indTotTrib') || has(context, 'pTotTribSN')),
};

const TOTAL = 'valores/trib/totTrib';

const has = ({ dps }: RuleContext, name: string): boolean => dps.has(`${TOTAL}/${name}`);

const isAboveAmount = ({ dps }: RuleContext, name: string): boolean =>
  dps.cents(`${TOTAL}/vTotTrib/${name}`) > dps.amountInCents;

const isAboveHundred = ({ dps }: RuleContext, name: string): boolean => dps.cents(`${TOTAL}/pTotTrib/${name}`) > 100_00;
