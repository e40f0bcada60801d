import { partyRules } from './party.js';
import type { Rule } from './rule.js';

/** The intermediary (annex I, group interm). */
export const intermRules: readonly Rule[] = [
  {
    code: 'E0262',
    // Unlike the customer's rule this one compares the company, not the establishment.
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
