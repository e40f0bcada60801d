import type { Benefit } from '../state/registry.js';
import type { RuleContext } from './rule.js';

const NUMBER = 'valores/trib/tribMun/BM/nBM';

/** The benefit that the DPS claims, as the municipality of incidence told it. */
export const claimedBenefit = ({ dps, incidence }: RuleContext): Benefit | undefined =>
  incidence.benefits?.find(({ number }) => number === dps.text(NUMBER));

export const hasExemption = (context: RuleContext): boolean => claimedBenefit(context)?.kind === 'exemption';

/** Exemption and a rate of its own leave no rate to declare. */
export const hasRateBenefit = (context: RuleContext): boolean =>
  hasExemption(context) || claimedBenefit(context)?.kind === 'rate';
