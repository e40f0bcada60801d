import { isMeEpp, isMei, isOutsideSimples } from './facts.js';
import type { Rule, RuleContext } from './rule.js';

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
