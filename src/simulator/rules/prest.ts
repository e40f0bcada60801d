import type { TaxRegime } from '../state/registry.js';
import {
  hasWrongCnpj,
  hasWrongCpf,
  hasWrongEmail,
  isUnknownCnpj,
  isUnknownCpf,
  lacksForeignIdentity,
} from './checks.js';
import { hasSpecialRegime, isAllInsideSimples, isMeEpp, isMei, isProviderEmitter, isTaxable } from './facts.js';
import type { Rule, RuleContext } from './rule.js';

/** Identity, CNC registration and tax regime of the provider (annex I, group prest). */
export const prestRules: readonly Rule[] = [
  { code: 'E0080', broken: ({ dps }) => hasWrongCnpj(dps, 'prest/CNPJ') },
  { code: 'E0082', broken: (context) => isUnknownCnpj(context, context.dps, 'prest/CNPJ') },
  {
    code: 'E0084',
    broken: (context) => {
      const { municipality } = context.company;
      const isElsewhere = municipality !== undefined && municipality !== context.dps.municipality;
      return !isMei(context) && isElsewhere && !isRegistered(context);
    },
  },
  { code: 'E0096', broken: ({ dps }) => hasWrongCpf(dps, 'prest/CPF') },
  { code: 'E0098', broken: (context) => isUnknownCpf(context, context.dps, 'prest/CPF') },
  { code: 'E0113', broken: ({ dps }) => lacksForeignIdentity(dps, 'prest') },
  { code: 'E0116', broken: (context) => !isMei(context) && demandsRegistration(context) && !hasIm(context) },
  {
    code: 'E0119',
    broken: (context) => {
      const { cnc } = context.company;
      if (isMei(context) || !hasIm(context) || cnc === undefined || cnc === null) return false;
      return cnc.authorized === false || context.dps.text('prest/IM') !== cnc.municipalRegistration;
    },
  },
  { code: 'E0120', broken: (context) => hasIm(context) && !isRegistered(context) && !takesAnyRegistration(context) },
  { code: 'E0121', broken: (context) => isProviderEmitter(context) && context.dps.has('prest/xNome') },
  {
    code: 'E0124',
    broken: (context) => {
      const inactiveSince = context.company.cnc?.inactiveSince;
      return hasIm(context) && inactiveSince !== undefined && context.dps.competence >= inactiveSince;
    },
  },
  { code: 'E0128', broken: (context) => isProviderEmitter(context) && context.dps.has('prest/end') },
  { code: 'E0148', broken: ({ dps }) => hasWrongEmail(dps, 'prest/email') },
  {
    code: 'E0160',
    broken: ({ dps, company }) =>
      company.regime !== undefined && OP_SIMP_NAC[company.regime] !== dps.text('prest/regTrib/opSimpNac'),
  },
  { code: 'E0162', broken: (context) => !isMeEpp(context) && context.dps.has('prest/regTrib/regApTribSN') },
  { code: 'E0166', broken: (context) => isMeEpp(context) && !context.dps.has('prest/regTrib/regApTribSN') },
  { code: 'E0172', broken: (context) => hasSpecialRegime(context) && !isTaxable(context) },
  { code: 'E0174', broken: (context) => isMei(context) && hasSpecialRegime(context) },
  { code: 'E0175', broken: (context) => isAllInsideSimples(context) && hasSpecialRegime(context) },
  { code: 'E0176', broken: (context) => isSelfEmployed(context) && !isRegimeAdmitted(context) },
  {
    code: 'E0177',
    broken: (context) => hasSpecialRegime(context) && !isSelfEmployed(context) && !isRegimeAdmitted(context),
  },
];

const OP_SIMP_NAC: Record<TaxRegime, string> = { normal: '1', mei: '2', simples: '3' };

const REG_ESP_TRIB = 'prest/regTrib/regEspTrib';

const hasIm = ({ dps }: RuleContext): boolean => dps.has('prest/IM');

const isRegistered = ({ company }: RuleContext): boolean => company.cnc !== undefined && company.cnc !== null;

const demandsRegistration = (context: RuleContext): boolean =>
  isRegistered(context) || context.municipality.registrationRequired === true;

/** Where the municipality demands a registration, every company counts as registered, except those with `cnc` null. */
const takesAnyRegistration = ({ municipality, company }: RuleContext): boolean =>
  municipality.registrationRequired === true && company.cnc !== null;

const isSelfEmployed = ({ dps }: RuleContext): boolean => dps.text(REG_ESP_TRIB) === '5';

const isRegimeAdmitted = ({ dps, incidence }: RuleContext): boolean =>
  incidence.specialRegimes?.includes(dps.text(REG_ESP_TRIB) ?? '') !== false;
