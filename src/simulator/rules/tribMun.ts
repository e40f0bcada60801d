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
import type { RuleContext, Rules } from './rule.js';

/**
 * How the ISSQN applies, and which party withholds it (annex I, group tribMun; docs/national-system.md#issqn,
 * docs/national-system.md#export).
 */
export const tribMunRules: Rules = {
  E0529: (context) => isExport(context) && isNeverExport(context),
  E0530: (context) => isTaxable(context) && isAlwaysExport(context),
  E0532: (context) => context.dps.serviceCode === '990101' && taxation(context) !== '4',
  E0539: (context) =>
    taxation(context) === '4' &&
    context.dps.serviceCode !== '990101' &&
    context.incidence.nonIncidentCodes?.includes(context.dps.serviceCode) === false,
  E0540: (context) =>
    taxation(context) !== '4' && context.incidence.nonIncidentCodes?.includes(context.dps.serviceCode) === true,
  E0580: (context) => !isTaxable(context) && isWithheld(context),
  E0583: (context) => isMei(context) && isWithheld(context),
  E0585: (context) => !isTaxable(context) && context.dps.has(`${TRIB_MUN}/exigSusp`),
  E0588: (context) => hasSpecialRegime(context) && isWithheld(context),
  E0590: (context) => needsResultCountry(context) && !hasResultCountry(context),
  E0591: (context) => !needsResultCountry(context) && hasResultCountry(context),
  E0592: (context) => (taxation(context) === '2') !== context.dps.has(`${TRIB_MUN}/tpImunidade`),
  E0593: ({ dps }) => dps.text(`${TRIB_MUN}/tpImunidade`) === '0',
  E0596: (context) => context.dps.serviceCode === '220101' && isWithheld(context),
  E0667: (context) => withholder(context) === '2' && !mayWithhold(context, 'toma/CPF'),
  E0670: (context) => withholder(context) === '3' && !mayWithhold(context, 'interm/CPF'),
};

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
