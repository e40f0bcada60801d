import { incidenceOf } from './incidence.js';
import { partyRules } from './party.js';
import type { Rule, RuleContext } from './rule.js';
import { OPERATIONS_BY_CUSTOMER } from './service-lists.js';

/** The customer (annex I, group toma). */
export const tomaRules: readonly Rule[] = [
  {
    code: 'E0187',
    // No national code lets a municipality demand a customer at issuance; this is the one whose wording is nearest.
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
