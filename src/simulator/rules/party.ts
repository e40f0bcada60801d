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
import type { Rule } from './rule.js';

/** One code for each rule that customer and intermediary have alike. */
export type PartyCodes = Record<
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
export const partyRules = (party: 'toma' | 'interm', withholds: '2' | '3', codes: PartyCodes): readonly Rule[] => [
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
