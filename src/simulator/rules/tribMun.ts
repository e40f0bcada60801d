import {
  hasSpecialRegime,
  isExport,
  isMei,
  isPerformedAbroad,
  isPerformedInBrazil,
  isTaxable,
  isWithheld,
  withholder,
} from './facts.js';
import { incidenceOf } from './incidence.js';
import type { Rule, RuleContext } from './rule.js';

/**
 * How the ISSQN applies, and which party withholds it (annex I, group tribMun; docs/national-system.md#issqn,
 * docs/national-system.md#export).
 */
export const tribMunRules: readonly Rule[] = [
  { code: 'E0529', broken: (context) => isExport(context) && isNeverExport(context) },
  { code: 'E0530', broken: (context) => isTaxable(context) && isAlwaysExport(context) },
  { code: 'E0532', broken: (context) => context.dps.serviceCode === '990101' && taxation(context) !== '4' },
  {
    code: 'E0539',
    broken: (context) =>
      taxation(context) === '4' &&
      context.dps.serviceCode !== '990101' &&
      context.incidence.nonIncidentCodes?.includes(context.dps.serviceCode) === false,
  },
  {
    code: 'E0540',
    broken: (context) =>
      taxation(context) !== '4' && context.incidence.nonIncidentCodes?.includes(context.dps.serviceCode) === true,
  },
  { code: 'E0580', broken: (context) => !isTaxable(context) && isWithheld(context) },
  { code: 'E0583', broken: (context) => isMei(context) && isWithheld(context) },
  { code: 'E0585', broken: (context) => !isTaxable(context) && context.dps.has(`${TRIB_MUN}/exigSusp`) },
  { code: 'E0588', broken: (context) => hasSpecialRegime(context) && isWithheld(context) },
  { code: 'E0590', broken: (context) => needsResultCountry(context) && !hasResultCountry(context) },
  { code: 'E0591', broken: (context) => !needsResultCountry(context) && hasResultCountry(context) },
  {
    code: 'E0592',
    broken: (context) => (taxation(context) === '2') !== context.dps.has(`${TRIB_MUN}/tpImunidade`),
  },
  { code: 'E0593', broken: ({ dps }) => dps.text(`${TRIB_MUN}/tpImunidade`) === '0' },
  { code: 'E0596', broken: (context) => context.dps.serviceCode === '220101' && isWithheld(context) },
  { code: 'E0667', broken: (context) => withholder(context) === '2' && !mayWithhold(context, 'toma/CPF') },
  { code: 'E0670', broken: (context) => withholder(context) === '3' && !mayWithhold(context, 'interm/CPF') },
];

const TRIB_MUN = 'valores/trib/tribMun';

const taxation = ({ dps }: RuleContext): string | undefined => dps.text(`${TRIB_MUN}/tribISSQN`);

const isDueTo = ({ dps }: RuleContext, whom: ReturnType<typeof incidenceOf>): boolean =>
  incidenceOf(dps.serviceCode) === whom;

/** Scenarios 6, 10, 34, 38, 66 and 80 of the sheet `EXPORTACAO_EMISSÃO_NFS-e` of annex I. */
const isNeverExport = (context: RuleContext): boolean =>
  isPerformedInBrazil(context) &&
  (isDueTo(context, 'performance') || (isDueTo(context, 'customer') && context.dps.has('toma/end/endNac')));

/** Scenarios 26, 54, 92, 96, 106 and 110 of that sheet. */
const isAlwaysExport = (context: RuleContext): boolean =>
  isPerformedAbroad(context) &&
  (isDueTo(context, 'performance') || (isDueTo(context, 'customer') && context.dps.has('toma/end/endExt')));

/** Scenarios 2, 30, 58, 62, 72 and 76 of that sheet. */
const needsResultCountry = (context: RuleContext): boolean =>
  isExport(context) &&
  isPerformedInBrazil(context) &&
  (isDueTo(context, 'provider') || (isDueTo(context, 'customer') && !context.dps.has('toma/end/endNac')));

const hasResultCountry = ({ dps }: RuleContext): boolean => dps.has(`${TRIB_MUN}/cPaisResult`);

const mayWithhold = ({ dps, incidence }: RuleContext, path: string): boolean => {
  const cpf = dps.text(path);
  return cpf === undefined || incidence.withholdingCpfs?.includes(cpf) !== false;
};
