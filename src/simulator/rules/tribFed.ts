import { percentOf } from './amounts.js';
import { isOutOfRange } from './checks.js';
import { isMei } from './facts.js';
import type { RuleContext, Rules } from './rule.js';

/** Federal taxes (annex I, group tribFed). */
export const tribFedRules: Rules = {
  E0675: ({ dps }) => dps.has(FEDERAL) && dps.has('prest/CPF'),
  E0676: (context) => context.dps.has(FEDERAL) && isMei(context),
  E0677: ({ dps }) => dps.cents(`${PIS_COFINS}/vBCPisCofins`) > dps.amountInCents,
  E0694: (context) => isMiscalculated(context, 'pAliqPis', 'vPis'),
  E0696: (context) => isMiscalculated(context, 'pAliqCofins', 'vCofins'),
  E0699: ({ dps }) => isOutOfRange(dps, `${FEDERAL}/vRetCP`),
  E0700: ({ dps }) => isOutOfRange(dps, `${FEDERAL}/vRetIRRF`),
  E0701: ({ dps }) => isOutOfRange(dps, `${FEDERAL}/vRetCSLL`),
  E0720: (context) => retention(context) === '0' && hasCsll(context),
  E0724: (context) => !['0', '2', undefined].includes(retention(context)) && !hasCsll(context),
};

const FEDERAL = 'valores/trib/tribFed';

const PIS_COFINS = `${FEDERAL}/piscofins`;

const retention = ({ dps }: RuleContext): string | undefined => dps.text(`${PIS_COFINS}/tpRetPisCofins`);

const hasCsll = ({ dps }: RuleContext): boolean => dps.has(`${FEDERAL}/vRetCSLL`);

/** Sefin's rounding is not published, so a difference of one cent passes. */
const isMiscalculated = ({ dps }: RuleContext, rate: string, value: string): boolean => {
  const percent = dps.text(`${PIS_COFINS}/${rate}`);
  if (percent === undefined || !dps.has(`${PIS_COFINS}/${value}`)) return false;
  const due = percentOf(dps.cents(`${PIS_COFINS}/vBCPisCofins`), percent);
  return Math.abs(due - dps.cents(`${PIS_COFINS}/${value}`)) > 1;
};
