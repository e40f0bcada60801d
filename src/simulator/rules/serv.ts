import { isNoForeignCountry, isOutside } from './checks.js';
import { isAbroad, isExport, isMei, isPerformedAbroad, isPerformedInBrazil } from './facts.js';
import type { Rule, RuleContext } from './rule.js';
import { WORKS } from './service-lists.js';

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

/** Foreign trade (annex I, group comExt). */
export const comExtRules: readonly Rule[] = [
  {
    code: 'E0330',
    broken: (context) => (isAbroad(context) || isExport(context)) && !context.dps.has('serv/comExt'),
  },
  { code: 'E0333', broken: (context) => comExt(context, 'mdPrestacao') === '0' },
  { code: 'E0341', broken: (context) => comExt(context, 'mecAFComexP') === '00' },
  { code: 'E0343', broken: (context) => comExt(context, 'mecAFComexT') === '00' },
  { code: 'E0345', broken: (context) => comExt(context, 'movTempBens') === '0' },
  { code: 'E0352', broken: (context) => comExt(context, 'movTempBens') === '2' && !hasImport(context) },
  {
    code: 'E0354',
    broken: (context) => comExt(context, 'movTempBens') === '1' && (hasImport(context) || hasExportRecord(context)),
  },
  { code: 'E0356', broken: (context) => comExt(context, 'movTempBens') === '3' && !hasExportRecord(context) },
];

const comExt = ({ dps }: RuleContext, name: string): string | undefined => dps.text(`serv/comExt/${name}`);

const hasImport = ({ dps }: RuleContext): boolean => dps.has('serv/comExt/nDI');

const hasExportRecord = ({ dps }: RuleContext): boolean => dps.has('serv/comExt/nRE');

/** Construction works and cultural events (annex I, groups obra and atvEvento). */
export const obraEventoRules: readonly Rule[] = [
  { code: 'E0370', broken: ({ dps }) => WORKS.has(dps.serviceCode) && !dps.has('serv/obra') },
  { code: 'E0372', broken: ({ dps }) => dps.has('serv/obra') && !WORKS.has(dps.serviceCode) },
  { code: 'E0380', broken: (context) => isOutside(placeEntry(context), context.dps.text('serv/obra/end/CEP')) },
  { code: 'E0382', broken: (context) => isPerformedAbroad(context) && context.dps.has('serv/obra/end/CEP') },
  { code: 'E0384', broken: (context) => isPerformedAbroad(context) && lacksForeignEnd(context, 'serv/obra') },
  { code: 'E0386', broken: (context) => isPerformedInBrazil(context) && context.dps.has('serv/obra/end/endExt') },
  { code: 'E0390', broken: (context) => isItem12(context) && !context.dps.has('serv/atvEvento') },
  {
    code: 'E0392',
    broken: (context) =>
      context.dps.has('serv/atvEvento') && !isItem12(context) && context.dps.serviceCode !== OUTSIDE_THE_LIST,
  },
  {
    code: 'E0398',
    broken: (context) => {
      const postalCode = context.dps.text('serv/atvEvento/end/CEP');
      if (!isPerformedInBrazil(context) || !context.dps.has('serv/atvEvento/end')) return false;
      return postalCode === undefined || isOutside(placeEntry(context), postalCode);
    },
  },
  { code: 'E0400', broken: (context) => isPerformedAbroad(context) && context.dps.has('serv/atvEvento/end/CEP') },
  { code: 'E0402', broken: (context) => isPerformedAbroad(context) && lacksForeignEnd(context, 'serv/atvEvento') },
  {
    code: 'E0404',
    broken: (context) => isPerformedInBrazil(context) && context.dps.has('serv/atvEvento/end/endExt'),
  },
];

const OUTSIDE_THE_LIST = '990101';

const isItem12 = ({ dps }: RuleContext): boolean => dps.serviceCode.startsWith('12');

const placeEntry = ({ dps, registers }: RuleContext) =>
  registers.municipality(dps.text('serv/locPrest/cLocPrestacao') ?? '');

/** True for a group whose address is not abroad; false without an address. */
const lacksForeignEnd = ({ dps }: RuleContext, group: string): boolean =>
  dps.has(`${group}/end`) && !dps.has(`${group}/end/endExt`);
