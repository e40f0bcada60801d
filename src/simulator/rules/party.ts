import type { Code } from '../messages.js';
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
import type { Rule, RuleContext } from './rule.js';
import { OPERATIONS_BY_CUSTOMER } from './service-lists.js';

/** One code for each rule that customer and intermediary share. */
type PartyCodes = Record<
  | 'wrongCnpj'
  | 'unknownCnpj'
  | 'withholdsUnidentified'
  | 'wrongCpf'
  | 'unknownCpf'
  | 'abroadWithoutNif'
  | 'unknownNifReason'
  | 'withholdsWithoutAddress'
  | 'unknownMunicipality'
  | 'foreignPostalCode'
  | 'nifWithoutAddress'
  | 'wrongCountry'
  | 'wrongEmail',
  Code
>;

/** The rules of `toma` or `interm`. `withholds` is the `tpRetISSQN` that makes the party withhold the ISSQN. */
const partyRules = (party: 'toma' | 'interm', withholds: '2' | '3', codes: PartyCodes): readonly Rule[] => [
  { code: codes.wrongCnpj, broken: ({ dps }) => hasWrongCnpj(dps, `${party}/CNPJ`) },
  { code: codes.unknownCnpj, broken: (context) => isUnknownCnpj(context, context.dps, `${party}/CNPJ`) },
  {
    code: codes.withholdsUnidentified,
    broken: (context) =>
      withholder(context) === withholds && !context.dps.has(`${party}/CNPJ`) && !context.dps.has(`${party}/CPF`),
  },
  { code: codes.wrongCpf, broken: ({ dps }) => hasWrongCpf(dps, `${party}/CPF`) },
  { code: codes.unknownCpf, broken: (context) => isUnknownCpf(context, context.dps, `${party}/CPF`) },
  { code: codes.abroadWithoutNif, broken: ({ dps }) => lacksForeignIdentity(dps, party) },
  { code: codes.unknownNifReason, broken: ({ dps }) => dps.text(`${party}/cNaoNIF`) === '0' },
  {
    code: codes.withholdsWithoutAddress,
    broken: (context) => withholder(context) === withholds && !context.dps.has(`${party}/end/endNac`),
  },
  {
    code: codes.unknownMunicipality,
    broken: (context) => isUnknownMunicipality(context, context.dps, `${party}/end/endNac/cMun`),
  },
  {
    code: codes.foreignPostalCode,
    broken: (context) => hasForeignPostalCode(context, context.dps, `${party}/end/endNac`),
  },
  {
    code: codes.nifWithoutAddress,
    broken: ({ dps }) => dps.has(`${party}/NIF`) && dps.has('prest/CNPJ') && !dps.has(`${party}/end/endExt`),
  },
  {
    code: codes.wrongCountry,
    broken: (context) => isNoForeignCountry(context, context.dps, `${party}/end/endExt/cPais`),
  },
  { code: codes.wrongEmail, broken: ({ dps }) => hasWrongEmail(dps, `${party}/email`) },
];

/** The intermediary (annex I, group interm). */
export const intermRules: readonly Rule[] = [
  {
    code: 'E0262',
    // E0262 compares the company; E0202, the same rule for the customer, compares the establishment.
    broken: ({ dps }) =>
      dps.has('interm/CNPJ') && dps.text('interm/CNPJ')?.slice(0, 8) === dps.text('prest/CNPJ')?.slice(0, 8),
  },
  ...partyRules('interm', '3', {
    wrongCnpj: 'E0248',
    unknownCnpj: 'E0250',
    withholdsUnidentified: 'E0264',
    wrongCpf: 'E0266',
    unknownCpf: 'E0268',
    abroadWithoutNif: 'E0281',
    unknownNifReason: 'E0286',
    withholdsWithoutAddress: 'E0293',
    unknownMunicipality: 'E0294',
    foreignPostalCode: 'E0296',
    nifWithoutAddress: 'E0298',
    wrongCountry: 'E0299',
    wrongEmail: 'E0300',
  }),
];

/** The customer (annex I, group toma). */
export const tomaRules: readonly Rule[] = [
  {
    code: 'E0187',
    // The annex has no code for a municipality that demands a customer at issuance; E0187 has the nearest wording.
    broken: (context) =>
      !context.dps.has('toma') && (context.municipality.customerRequired === true || isOperationByCustomer(context)),
  },
  {
    code: 'E0202',
    broken: ({ dps }) => dps.has('toma/CNPJ') && dps.text('toma/CNPJ') === dps.text('prest/CNPJ'),
  },
  {
    code: 'E0234',
    broken: (context) =>
      !context.dps.has('toma/end') &&
      (incidenceOf(context.dps.serviceCode) === 'customer' ||
        (context.dps.has('toma') && isOperationByCustomer(context))),
  },
  ...partyRules('toma', '2', {
    wrongCnpj: 'E0188',
    unknownCnpj: 'E0190',
    withholdsUnidentified: 'E0204',
    wrongCpf: 'E0206',
    unknownCpf: 'E0207',
    abroadWithoutNif: 'E0223',
    unknownNifReason: 'E0226',
    withholdsWithoutAddress: 'E0237',
    unknownMunicipality: 'E0238',
    foreignPostalCode: 'E0240',
    nifWithoutAddress: 'E0242',
    wrongCountry: 'E0246',
    wrongEmail: 'E0247',
  }),
];

const isOperationByCustomer = ({ dps }: RuleContext): boolean =>
  OPERATIONS_BY_CUSTOMER.has(dps.text('IBSCBS/cIndOp') ?? '');
