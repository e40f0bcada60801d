import { isCnpj, isCpf } from './check-digits.js';
import type { Rule } from './rule.js';

/** The customer (annex I, group toma). */
export const customerRules: readonly Rule[] = [
  // No national code lets a municipality demand a customer at issuance; this is the one whose wording is nearest.
  { code: 'E0187', broken: ({ dps, municipality }) => municipality.customerRequired === true && !dps.has('toma') },
  { code: 'E0188', broken: ({ dps }) => isWrong(dps.text('toma/CNPJ'), isCnpj) },
  {
    code: 'E0202',
    broken: ({ dps }) => dps.text('toma/CNPJ') !== undefined && dps.text('toma/CNPJ') === dps.text('prest/CNPJ'),
  },
  { code: 'E0206', broken: ({ dps }) => isWrong(dps.text('toma/CPF'), isCpf) },
  {
    code: 'E0223',
    broken: ({ dps }) => dps.has('toma/end/endExt') && !dps.has('toma/NIF') && !dps.has('toma/cNaoNIF'),
  },
  { code: 'E0226', broken: ({ dps }) => dps.text('toma/cNaoNIF') === '0' },
  { code: 'E0246', broken: ({ dps }) => dps.text('toma/end/endExt/cPais') === 'BR' },
];

const isWrong = (value: string | undefined, isRight: (value: string) => boolean): boolean =>
  value !== undefined && !isRight(value);
