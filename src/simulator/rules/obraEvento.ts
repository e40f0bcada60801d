import { isOutside } from './checks.js';
import { isPerformedAbroad, isPerformedInBrazil } from './facts.js';
import type { Rule, RuleContext } from './rule.js';
import { WORKS } from './service-lists.js';

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

/** An address is given, and it is not one abroad. */
const lacksForeignEnd = ({ dps }: RuleContext, group: string): boolean =>
  dps.has(`${group}/end`) && !dps.has(`${group}/end/endExt`);
