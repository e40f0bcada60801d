import { percentOf } from './amounts.js';
import { isMei } from './facts.js';
import type { Rule, RuleContext } from './rule.js';

/** Federal taxes (annex I, group tribFed). */
export const tribFedRules: readonly Rule[] = [
  { code: 'E0675', broken: ({ dps }) => dps.has(FEDERAL) && dps.has('prest/CPF') },
  { code: 'E0676', broken: (context) => context.dps.has(FEDERAL) && isMei(context) },
  { code: 'E0677', broken: ({ dps }) => dps.cents(`${PIS_COFINS}/vBCPisCofins`) > dps.amountInCents },
  { code: 'E0694', broken: (context) => isMiscalculated(context, 'pAliqPis', 'vPis') },
  { code: 'E0696', broken: (context) => isMiscalculated(context, 'pAliqCofins', 'vCofins') },
  { code: 'E0699', broken: (context) => isOutOfRange(context, 'vRetCP') },
  { code: 'E0700', broken: (context) => isOutOfRange(context, 'vRetIRRF') },
  { code: 'E0701', broken: (context) => isOutOfRange(context, 'vRetCSLL') },
  { code: 'E0720', broken: (context) => retention(context) === '0' && hasCsll(context) },
  {
    code: 'E0724',
    broken: (context) => !['0', '2', undefined].includes(retention(context)) && !hasCsll(context),
  },
];

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

/** An amount withheld must be above zero and below the amount of the service. */
const isOutOfRange = ({ dps }: RuleContext, name: string): boolean => {
  const path = `${FEDERAL}/${name}`;
  return dps.has(path) && (dps.cents(path) === 0 || dps.cents(path) >= dps.amountInCents);
};
