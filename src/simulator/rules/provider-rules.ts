import type { TaxRegime } from '../state/registry.js';
import { isAllInsideSimples, isMeEpp, isMei, type Rule, type RuleContext } from './rule.js';

/** CNC registration and tax regime of the provider (annex I, group prest). */
export const providerRules: readonly Rule[] = [
  { code: 'E0116', broken: (context) => !isMei(context) && demandsRegistration(context) && !hasIm(context) },
  {
    code: 'E0119',
    broken: (context) =>
      !isMei(context) &&
      hasIm(context) &&
      isRegistered(context) &&
      context.dps.text('prest/IM') !== context.company.cnc?.municipalRegistration,
  },
  { code: 'E0120', broken: (context) => hasIm(context) && !isRegistered(context) && !takesAnyRegistration(context) },
  { code: 'E0121', broken: ({ dps }) => dps.text('tpEmit') === '1' && dps.has('prest/xNome') },
  { code: 'E0128', broken: ({ dps }) => dps.text('tpEmit') === '1' && dps.has('prest/end') },
  {
    code: 'E0160',
    broken: ({ dps, company }) =>
      company.regime !== undefined && OP_SIMP_NAC[company.regime] !== dps.text('prest/regTrib/opSimpNac'),
  },
  { code: 'E0162', broken: (context) => !isMeEpp(context) && context.dps.has('prest/regTrib/regApTribSN') },
  { code: 'E0166', broken: (context) => isMeEpp(context) && !context.dps.has('prest/regTrib/regApTribSN') },
  {
    code: 'E0172',
    broken: (context) => hasSpecialRegime(context) && context.dps.text('valores/trib/tribMun/tribISSQN') !== '1',
  },
  { code: 'E0174', broken: (context) => isMei(context) && hasSpecialRegime(context) },
  { code: 'E0175', broken: (context) => isAllInsideSimples(context) && hasSpecialRegime(context) },
];

const OP_SIMP_NAC: Record<TaxRegime, string> = { normal: '1', mei: '2', simples: '3' };

const hasIm = ({ dps }: RuleContext): boolean => dps.has('prest/IM');

const isRegistered = ({ company }: RuleContext): boolean => company.cnc !== undefined && company.cnc !== null;

const demandsRegistration = (context: RuleContext): boolean =>
  isRegistered(context) || context.municipality.registrationRequired === true;

/** A municipality that demands the registration is taken to know every company that CNC was not told to miss. */
const takesAnyRegistration = ({ municipality, company }: RuleContext): boolean =>
  municipality.registrationRequired === true && company.cnc !== null;

const hasSpecialRegime = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/regEspTrib') !== '0';
