import { benefit, percentOf } from './amounts.js';
import { claimedBenefit, hasExemption } from './benefits.js';
import { hasSpecialRegime, isAllInsideSimples, isIncidenceActive, isMei, isTaxable, isWithheld } from './facts.js';
import { placeOfIncidence } from './incidence.js';
import { isBelowMinimum } from './minimum.js';
import type { Rule, RuleContext } from './rule.js';

/** Municipal benefits (annex I, group BM). Rules about the terms of a benefit need its entry in the registry of the municipality of incidence. */
export const beneficioMunicipalRules: readonly Rule[] = [
  { code: 'E0533', broken: (context) => hasBm(context) && !isTaxable(context) },
  { code: 'E0534', broken: (context) => hasBm(context) && isMei(context) },
  { code: 'E0535', broken: (context) => hasBm(context) && hasSpecialRegime(context) },
  {
    code: 'E0536',
    broken: (context) =>
      hasBm(context) &&
      isAllInsideSimples(context) &&
      isIncidenceActive(context) &&
      !/^070[25]/.test(context.dps.serviceCode),
  },
  { code: 'E0537', broken: (context) => hasBm(context) && !isIncidenceActive(context) },
  {
    code: 'E0541',
    broken: (context) =>
      hasBm(context) && context.incidence.benefits !== undefined && claimedBenefit(context) === undefined,
  },
  { code: 'E0544', broken: (context) => context.dps.competence > (claimedBenefit(context)?.until ?? FOREVER) },
  {
    code: 'E0548',
    broken: (context) =>
      claimedBenefit(context)?.localOnly === true && placeOfIncidence(context.dps) !== context.dps.municipality,
  },
  {
    code: 'E0550',
    broken: (context) => {
      const claimed = claimedBenefit(context);
      return (
        claimed?.serviceCodes?.includes(context.dps.serviceCode) === false ||
        claimed?.cnpjs?.includes(context.dps.emitter) === false
      );
    },
  },
  { code: 'E0565', broken: (context) => has(context, 'vRedBCBM') && isOfOtherKind(context, 'value') },
  { code: 'E0567', broken: (context) => claimedBenefit(context)?.kind === 'value' && !has(context, 'vRedBCBM') },
  { code: 'E0574', broken: ({ dps }) => dps.cents(`${BM}/vRedBCBM`) > dps.amountInCents },
  { code: 'E0575', broken: (context) => has(context, 'vRedBCBM') && isBelowMinimum(context, benefit(context.dps)) },
  { code: 'E0577', broken: (context) => has(context, 'pRedBCBM') && isOfOtherKind(context, 'percent') },
  { code: 'E0579', broken: (context) => claimedBenefit(context)?.kind === 'percent' && !has(context, 'pRedBCBM') },
  {
    code: 'E0586',
    broken: (context) => {
      const percent = context.dps.cents(`${BM}/pRedBCBM`);
      const most = percentOf(100_00, claimedBenefit(context)?.percent ?? '100.00');
      return has(context, 'pRedBCBM') && (percent === 0 || percent > most);
    },
  },
  { code: 'E0587', broken: (context) => has(context, 'pRedBCBM') && isBelowMinimum(context, benefit(context.dps)) },
  { code: 'E0594', broken: (context) => hasExemption(context) && isWithheld(context) },
];

const BM = 'valores/trib/tribMun/BM';

const FOREVER = '9999-12-31';

const hasBm = ({ dps }: RuleContext): boolean => dps.has(BM);

const has = ({ dps }: RuleContext, name: string): boolean => dps.has(`${BM}/${name}`);

const isOfOtherKind = (context: RuleContext, kind: string): boolean => {
  const claimed = claimedBenefit(context);
  return claimed !== undefined && claimed.kind !== kind;
};
