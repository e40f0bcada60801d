import { hasMunicipalCodes, isNationalCodeEnough } from '../state/entries.js';
import { isNoForeignCountry, isOutside } from './checks.js';
import { isAbroad, isExport, isMei, isPerformedAbroad, isPerformedInBrazil } from './facts.js';
import type { RuleContext, Rules } from './rule.js';
import { WORKS } from './service-lists.js';

/** The place of the service and its codes (annex I, groups locPrest and cServ). */
export const servRules: Rules = {
  E0302: ({ dps, tables }) => {
    const place = dps.text('serv/locPrest/cLocPrestacao');
    return place !== undefined && place !== AT_SEA && tables.municipality(place) === undefined;
  },
  E0304: (context) => isNoForeignCountry(context, context.dps, 'serv/locPrest/cPaisPrestacao'),
  E0310: ({ dps, tables }) => tables.serviceCode(dps.serviceCode) === undefined,
  E0312: (context) => {
    const { incidence, dps } = context;
    if (isMei(context) || isNationalCodeEnough(incidence, dps.serviceCode)) return false;
    // With a municipal code all nine digits are judged, by E0314.
    return !dps.has(MUNICIPAL_CODE) || !hasMunicipalCodes(incidence, dps.serviceCode);
  },
  E0314: (context) => {
    const code = context.dps.text(MUNICIPAL_CODE);
    if (isMei(context) || code === undefined || code === '000') return false;
    return context.incidence.municipalCodes?.includes(`${context.dps.serviceCode}${code}`) === false;
  },
  E0315: ({ dps }) => dps.text(MUNICIPAL_CODE) === '000',
  E0316: ({ dps, tables }) => {
    const nbs = dps.text(NBS);
    return nbs !== undefined && tables.nbs(nbs) === undefined;
  },
  E0318: (context) => isAbroad(context) && !context.dps.has(NBS),
  E0322: ({ dps }) => dps.has('IBSCBS') && !dps.has(NBS),
};

const AT_SEA = '0000000';

const MUNICIPAL_CODE = 'serv/cServ/cTribMun';

const NBS = 'serv/cServ/cNBS';

/** Foreign trade (annex I, group comExt). */
export const comExtRules: Rules = {
  E0330: (context) => (isAbroad(context) || isExport(context)) && !context.dps.has('serv/comExt'),
  E0333: (context) => comExt(context, 'mdPrestacao') === '0',
  E0341: (context) => comExt(context, 'mecAFComexP') === '00',
  E0343: (context) => comExt(context, 'mecAFComexT') === '00',
  E0345: (context) => comExt(context, 'movTempBens') === '0',
  E0352: (context) => comExt(context, 'movTempBens') === '2' && !hasImport(context),
  E0354: (context) => comExt(context, 'movTempBens') === '1' && (hasImport(context) || hasExportRecord(context)),
  E0356: (context) => comExt(context, 'movTempBens') === '3' && !hasExportRecord(context),
};

const comExt = ({ dps }: RuleContext, name: string): string | undefined => dps.text(`serv/comExt/${name}`);

const hasImport = ({ dps }: RuleContext): boolean => dps.has('serv/comExt/nDI');

const hasExportRecord = ({ dps }: RuleContext): boolean => dps.has('serv/comExt/nRE');

/** Construction works and cultural events (annex I, groups obra and atvEvento). */
export const obraEventoRules: Rules = {
  E0370: ({ dps }) => WORKS.has(dps.serviceCode) && !dps.has('serv/obra'),
  E0372: ({ dps }) => dps.has('serv/obra') && !WORKS.has(dps.serviceCode),
  E0380: (context) => isOutside(placeEntry(context), context.dps.text('serv/obra/end/CEP')),
  E0382: (context) => isPerformedAbroad(context) && context.dps.has('serv/obra/end/CEP'),
  E0384: (context) => isPerformedAbroad(context) && lacksForeignEnd(context, 'serv/obra'),
  E0386: (context) => isPerformedInBrazil(context) && context.dps.has('serv/obra/end/endExt'),
  E0390: (context) => isItem12(context) && !context.dps.has('serv/atvEvento'),
  E0392: (context) =>
    context.dps.has('serv/atvEvento') && !isItem12(context) && context.dps.serviceCode !== OUTSIDE_THE_LIST,
  E0398: (context) => {
    const postalCode = context.dps.text('serv/atvEvento/end/CEP');
    if (!isPerformedInBrazil(context) || !context.dps.has('serv/atvEvento/end')) return false;
    return postalCode === undefined || isOutside(placeEntry(context), postalCode);
  },
  E0400: (context) => isPerformedAbroad(context) && context.dps.has('serv/atvEvento/end/CEP'),
  E0402: (context) => isPerformedAbroad(context) && lacksForeignEnd(context, 'serv/atvEvento'),
  E0404: (context) => isPerformedInBrazil(context) && context.dps.has('serv/atvEvento/end/endExt'),
};

const OUTSIDE_THE_LIST = '990101';

const isItem12 = ({ dps }: RuleContext): boolean => dps.serviceCode.startsWith('12');

const placeEntry = ({ dps, registers }: RuleContext) =>
  registers.municipality(dps.text('serv/locPrest/cLocPrestacao') ?? '');

/** True for a group whose address is not abroad; false without an address. */
const lacksForeignEnd = ({ dps }: RuleContext, group: string): boolean =>
  dps.has(`${group}/end`) && !dps.has(`${group}/end/endExt`);
