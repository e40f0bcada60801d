import type { Benefit } from '../state/entries.js';
import { benefit, percentOf } from './amounts.js';
import { hasSpecialRegime, isAllInsideSimples, isIncidenceActive, isMei, isTaxable, isWithheld } from './facts.js';
import { placeOfIncidence } from './incidence.js';
import { isBelowMinimum } from './minimum.js';
import type { RuleContext, Rules } from './rule.js';

/** Municipal benefits (annex I, group BM). Rules about the terms of a benefit need its entry in the registry of the municipality of incidence. */
export const beneficioMunicipalRules: Rules = {
  E0533: (context) => hasBm(context) && !isTaxable(context),
  E0534: (context) => hasBm(context) && isMei(context),
  E0535: (context) => hasBm(context) && hasSpecialRegime(context),
  E0536: (context) =>
    hasBm(context) &&
    isAllInsideSimples(context) &&
    isIncidenceActive(context) &&
    !/^070[25]/.test(context.dps.serviceCode),
  E0537: (context) => hasBm(context) && !isIncidenceActive(context),
  E0541: (context) =>
    hasBm(context) && context.incidence.benefits !== undefined && claimedBenefit(context) === undefined,
  E0544: (context) => context.dps.competence > (claimedBenefit(context)?.until ?? FOREVER),
  E0548: (context) =>
    claimedBenefit(context)?.localOnly === true && placeOfIncidence(context.dps) !== context.dps.municipality,
  E0550: (context) => {
    const claimed = claimedBenefit(context);
    return (
      claimed?.serviceCodes?.includes(context.dps.serviceCode) === false ||
      claimed?.cnpjs?.includes(context.dps.emitter) === false
    );
  },
  E0565: (context) => has(context, 'vRedBCBM') && isOfOtherKind(context, 'value'),
  E0567: (context) => claimedBenefit(context)?.kind === 'value' && !has(context, 'vRedBCBM'),
  E0574: ({ dps }) => dps.cents(`${BM}/vRedBCBM`) > dps.amountInCents,
  E0575: (context) => has(context, 'vRedBCBM') && isBelowMinimum(context, benefit(context.dps)),
  E0577: (context) => has(context, 'pRedBCBM') && isOfOtherKind(context, 'percent'),
  E0579: (context) => claimedBenefit(context)?.kind === 'percent' && !has(context, 'pRedBCBM'),
  E0586: (context) => {
    const percent = context.dps.cents(`${BM}/pRedBCBM`);
    const most = percentOf(100_00, claimedBenefit(context)?.percent ?? '100.00');
    return has(context, 'pRedBCBM') && (percent === 0 || percent > most);
  },
  E0587: (context) => has(context, 'pRedBCBM') && isBelowMinimum(context, benefit(context.dps)),
  E0594: (context) => hasExemption(context) && isWithheld(context),
};

const BM = 'valores/trib/tribMun/BM';

const FOREVER = '9999-12-31';

const hasBm = ({ dps }: RuleContext): boolean => dps.has(BM);

const has = ({ dps }: RuleContext, name: string): boolean => dps.has(`${BM}/${name}`);

const isOfOtherKind = (context: RuleContext, kind: string): boolean => {
  const claimed = claimedBenefit(context);
  return claimed !== undefined && claimed.kind !== kind;
};

/** The registry's entry of the benefit that the DPS claims; undefined without one in the municipality of incidence. */
const claimedBenefit = ({ dps, incidence }: RuleContext): Benefit | undefined =>
  incidence.benefits?.find(({ number }) => number === dps.text(`${BM}/nBM`));

export const hasExemption = (context: RuleContext): boolean => claimedBenefit(context)?.kind === 'exemption';

/** An exemption, or a benefit with its own rate: the DPS declares no rate then. */
export const hasRateBenefit = (context: RuleContext): boolean =>
  hasExemption(context) || claimedBenefit(context)?.kind === 'rate';
