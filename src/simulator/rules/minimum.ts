import { type Cents, centsFromDecimal } from '../../domain/common/money.js';
import { isTaxable } from './facts.js';
import type { RuleContext } from './rule.js';
import { BELOW_MINIMUM_ALLOWED } from './service-lists.js';

const MINIMUM_PERCENT = 2;

/**
 * True when reductions of the base leave an ISSQN below two percent of the amount (LC 116, article 8-A). Always false without a known rate,
 * which is the declared rate or that of the municipality of incidence in the registry. The discount does not count.
 */
export const isBelowMinimum = (context: RuleContext, reductions: Cents): boolean => {
  const { dps, incidence } = context;
  const rate = dps.text('valores/trib/tribMun/pAliq') ?? incidence.rate;
  if (rate === undefined || reductions === 0 || !isTaxable(context)) return false;
  if (BELOW_MINIMUM_ALLOWED.has(dps.serviceCode)) return false;
  const hundredths = centsFromDecimal(rate) ?? 0;
  return hundredths * (dps.amountInCents - reductions) < MINIMUM_PERCENT * 100 * dps.amountInCents;
};
