import type { TaxRegime } from '../state/entries.js';
import {
  hasWrongCnpj,
  hasWrongCpf,
  hasWrongEmail,
  isUnknownCnpj,
  isUnknownCpf,
  lacksForeignIdentity,
} from './checks.js';
import { hasSpecialRegime, isAllInsideSimples, isMeEpp, isMei, isProviderEmitter, isTaxable } from './facts.js';
import type { RuleContext, Rules } from './rule.js';

/** Identity, CNC registration and tax regime of the provider (annex I, group prest). */
export const prestRules: Rules = {
  E0080: ({ dps }) => hasWrongCnpj(dps, 'prest/CNPJ'),
  E0082: (context) => isUnknownCnpj(context, context.dps, 'prest/CNPJ'),
  E0084: (context) => {
    const { municipality } = context.company;
    const isElsewhere = municipality !== undefined && municipality !== context.dps.municipality;
    return !isMei(context) && isElsewhere && !isRegistered(context);
  },
  E0096: ({ dps }) => hasWrongCpf(dps, 'prest/CPF'),
  E0098: (context) => isUnknownCpf(context, context.dps, 'prest/CPF'),
  E0112: (context) => isProviderEmitter(context) && context.dps.has('prest/NIF'),
  E0113: ({ dps }) => lacksForeignIdentity(dps, 'prest'),
  E0114: (context) => isProviderEmitter(context) && context.dps.has('prest/cNaoNIF'),
  E0115: ({ dps }) => dps.text('prest/cNaoNIF') === '0',
  E0116: (context) => !isMei(context) && demandsRegistration(context) && !hasIm(context),
  E0119: (context) => {
    const { cnc } = context.company;
    if (isMei(context) || !hasIm(context) || cnc === undefined || cnc === null) return false;
    return cnc.authorized === false || context.dps.text('prest/IM') !== cnc.municipalRegistration;
  },
  E0120: (context) => hasIm(context) && !isRegistered(context) && !takesAnyRegistration(context),
  E0121: (context) => isProviderEmitter(context) && context.dps.has('prest/xNome'),
  E0124: (context) => {
    const inactiveSince = context.company.cnc?.inactiveSince;
    return hasIm(context) && inactiveSince !== undefined && context.dps.competence >= inactiveSince;
  },
  E0128: (context) => isProviderEmitter(context) && context.dps.has('prest/end'),
  E0148: ({ dps }) => hasWrongEmail(dps, 'prest/email'),
  E0160: ({ dps, company }) =>
    company.regime !== undefined && OP_SIMP_NAC[company.regime] !== dps.text('prest/regTrib/opSimpNac'),
  E0162: (context) => !isMeEpp(context) && context.dps.has('prest/regTrib/regApTribSN'),
  E0166: (context) => isMeEpp(context) && !context.dps.has('prest/regTrib/regApTribSN'),
  E0172: (context) => hasSpecialRegime(context) && !isTaxable(context),
  E0174: (context) => isMei(context) && hasSpecialRegime(context),
  E0175: (context) => isAllInsideSimples(context) && hasSpecialRegime(context),
  E0176: (context) => isSelfEmployed(context) && !isRegimeAdmitted(context),
  E0177: (context) => hasSpecialRegime(context) && !isSelfEmployed(context) && !isRegimeAdmitted(context),
};

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
