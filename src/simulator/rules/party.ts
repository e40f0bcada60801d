import {
  hasForeignPostalCode,
  hasWrongCnpj,
  hasWrongCpf,
  hasWrongEmail,
  isNoForeignCountry,
  isUnknownCnpj,
  isUnknownCpf,
  isUnknownMunicipality,
  lacksForeignIdentity,
} from './checks.js';
import { withholder } from './facts.js';
import { incidenceOf } from './incidence.js';
import type { RuleContext, Rules } from './rule.js';
import { OPERATIONS_BY_CUSTOMER } from './service-lists.js';

/** What the rules of `toma` and `interm` share. `withholds` is the `tpRetISSQN` that makes the party withhold the ISSQN. */
const partyFaults = (party: 'toma' | 'interm', withholds: '2' | '3') => ({
  wrongCnpj: ({ dps }: RuleContext) => hasWrongCnpj(dps, `${party}/CNPJ`),
  unknownCnpj: (context: RuleContext) => isUnknownCnpj(context, context.dps, `${party}/CNPJ`),
  withholdsUnidentified: (context: RuleContext) =>
    withholder(context) === withholds && !context.dps.has(`${party}/CNPJ`) && !context.dps.has(`${party}/CPF`),
  wrongCpf: ({ dps }: RuleContext) => hasWrongCpf(dps, `${party}/CPF`),
  unknownCpf: (context: RuleContext) => isUnknownCpf(context, context.dps, `${party}/CPF`),
  abroadWithoutNif: ({ dps }: RuleContext) => lacksForeignIdentity(dps, party),
  unknownNifReason: ({ dps }: RuleContext) => dps.text(`${party}/cNaoNIF`) === '0',
  withholdsWithoutAddress: (context: RuleContext) =>
    withholder(context) === withholds && !context.dps.has(`${party}/end/endNac`),
  unknownMunicipality: (context: RuleContext) =>
    isUnknownMunicipality(context, context.dps, `${party}/end/endNac/cMun`),
  foreignPostalCode: (context: RuleContext) => hasForeignPostalCode(context, context.dps, `${party}/end/endNac`),
  nifWithoutAddress: ({ dps }: RuleContext) =>
    dps.has(`${party}/NIF`) && dps.has('prest/CNPJ') && !dps.has(`${party}/end/endExt`),
  wrongCountry: (context: RuleContext) => isNoForeignCountry(context, context.dps, `${party}/end/endExt/cPais`),
  wrongEmail: ({ dps }: RuleContext) => hasWrongEmail(dps, `${party}/email`),
});

const interm = partyFaults('interm', '3');

const toma = partyFaults('toma', '2');

/** The intermediary (annex I, group interm). */
export const intermRules: Rules = {
  // E0262 compares the company; E0202, the same rule for the customer, compares the establishment.
  E0262: ({ dps }) =>
    dps.has('interm/CNPJ') && dps.text('interm/CNPJ')?.slice(0, 8) === dps.text('prest/CNPJ')?.slice(0, 8),
  E0248: interm.wrongCnpj,
  E0250: interm.unknownCnpj,
  E0264: interm.withholdsUnidentified,
  E0266: interm.wrongCpf,
  E0268: interm.unknownCpf,
  E0281: interm.abroadWithoutNif,
  E0286: interm.unknownNifReason,
  E0293: interm.withholdsWithoutAddress,
  E0294: interm.unknownMunicipality,
  E0296: interm.foreignPostalCode,
  E0298: interm.nifWithoutAddress,
  E0299: interm.wrongCountry,
  E0300: interm.wrongEmail,
};

/** The customer (annex I, group toma). */
export const tomaRules: Rules = {
  // The annex has no code for a municipality that demands a customer at issuance; E0187 has the nearest wording.
  E0187: (context) =>
    !context.dps.has('toma') && (context.municipality.customerRequired === true || isOperationByCustomer(context)),
  E0202: ({ dps }) => dps.has('toma/CNPJ') && dps.text('toma/CNPJ') === dps.text('prest/CNPJ'),
  E0234: (context) =>
    !context.dps.has('toma/end') &&
    (incidenceOf(context.dps.serviceCode) === 'customer' ||
      (context.dps.has('toma') && isOperationByCustomer(context))),
  E0188: toma.wrongCnpj,
  E0190: toma.unknownCnpj,
  E0204: toma.withholdsUnidentified,
  E0206: toma.wrongCpf,
  E0207: toma.unknownCpf,
  E0223: toma.abroadWithoutNif,
  E0226: toma.unknownNifReason,
  E0237: toma.withholdsWithoutAddress,
  E0238: toma.unknownMunicipality,
  E0240: toma.foreignPostalCode,
  E0242: toma.nifWithoutAddress,
  E0246: toma.wrongCountry,
  E0247: toma.wrongEmail,
};

const isOperationByCustomer = ({ dps }: RuleContext): boolean =>
  OPERATIONS_BY_CUSTOMER.has(dps.text('IBSCBS/cIndOp') ?? '');
