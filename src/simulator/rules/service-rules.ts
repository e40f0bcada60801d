import { isAbroad, isMei, type Rule } from './rule.js';

/** The service and its codes (annex I, group serv). */
export const serviceRules: readonly Rule[] = [
  { code: 'E0310', broken: ({ dps, tables }) => tables.serviceCode(dps.text(CODE) ?? '') === undefined },
  {
    code: 'E0312',
    broken: (context) =>
      !isMei(context) && context.municipality.serviceCodes?.includes(context.dps.text(CODE) ?? '') === false,
  },
  { code: 'E0315', broken: ({ dps }) => dps.text('serv/cServ/cTribMun') === '000' },
  {
    code: 'E0316',
    broken: ({ dps, tables }) => {
      const nbs = dps.text(NBS);
      return nbs !== undefined && !tables.isNbs(nbs);
    },
  },
  { code: 'E0318', broken: (context) => isAbroad(context) && !context.dps.has(NBS) },
  { code: 'E0322', broken: ({ dps }) => dps.has('IBSCBS') && !dps.has(NBS) },
  {
    code: 'E0330',
    broken: (context) =>
      (isAbroad(context) || context.dps.text('valores/trib/tribMun/tribISSQN') === '3') &&
      !context.dps.has('serv/comExt'),
  },
];

const CODE = 'serv/cServ/cTribNac';

const NBS = 'serv/cServ/cNBS';
