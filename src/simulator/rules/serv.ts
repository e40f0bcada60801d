import { isNoForeignCountry } from './checks.js';
import { isAbroad, isMei } from './facts.js';
import type { Rule } from './rule.js';

/** The place of the service and its codes (annex I, groups locPrest and cServ). */
export const servRules: readonly Rule[] = [
  {
    code: 'E0302',
    broken: ({ dps, tables }) => {
      const place = dps.text('serv/locPrest/cLocPrestacao');
      return place !== undefined && place !== AT_SEA && tables.municipality(place) === undefined;
    },
  },
  { code: 'E0304', broken: (context) => isNoForeignCountry(context, context.dps, 'serv/locPrest/cPaisPrestacao') },
  { code: 'E0310', broken: ({ dps, tables }) => tables.serviceCode(dps.serviceCode) === undefined },
  {
    code: 'E0312',
    broken: (context) => !isMei(context) && context.incidence.serviceCodes?.includes(context.dps.serviceCode) === false,
  },
  {
    code: 'E0314',
    broken: (context) => {
      const code = context.dps.text(MUNICIPAL_CODE);
      if (isMei(context) || code === undefined || code === '000') return false;
      return context.incidence.municipalCodes?.includes(`${context.dps.serviceCode}${code}`) === false;
    },
  },
  { code: 'E0315', broken: ({ dps }) => dps.text(MUNICIPAL_CODE) === '000' },
  {
    code: 'E0316',
    broken: ({ dps, tables }) => {
      const nbs = dps.text(NBS);
      return nbs !== undefined && !tables.isNbs(nbs);
    },
  },
  { code: 'E0318', broken: (context) => isAbroad(context) && !context.dps.has(NBS) },
  { code: 'E0322', broken: ({ dps }) => dps.has('IBSCBS') && !dps.has(NBS) },
];

const AT_SEA = '0000000';

const MUNICIPAL_CODE = 'serv/cServ/cTribMun';

const NBS = 'serv/cServ/cNBS';
