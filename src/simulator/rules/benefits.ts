import type { Benefit } from '../state/entries.js';
import type { RuleContext } from './rule.js';

const NUMBER = 'valores/trib/tribMun/BM/nBM';

/** The registry's entry of the benefit that the DPS claims; undefined without one in the municipality of incidence. */
export const claimedBenefit = ({ dps, incidence }: RuleContext): Benefit | undefined =>
  incidence.benefits?.find(({ number }) => number === dps.text(NUMBER));

export const hasExemption = (context: RuleContext): boolean => claimedBenefit(context)?.kind === 'exemption';

/** An exemption, or a benefit with its own rate: the DPS declares no rate then. */
export const hasRateBenefit = (context: RuleContext): boolean =>
  hasExemption(context) || claimedBenefit(context)?.kind === 'rate';
