import { hasWrongCnpj, hasWrongCpf, isUnknownCnpj, isUnknownCpf, isUnknownMunicipality } from './checks.js';
import type { Group } from './dps.js';
import type { Rule, RuleContext } from './rule.js';

/** Documents of reimbursements (annex I, group gReeRepRes): broken when any document is. */
const ofAny = (test: (document: Group, context: RuleContext) => boolean): Rule['broken'] => {
  return (context) =>
    context.dps.each('IBSCBS/valores/gReeRepRes/documentos').some((document) => test(document, context));
};

export const reembolsoRules: readonly Rule[] = [
  { code: 'E0940', broken: ofAny((document) => document.has('dFeNacional') && !hasRightLength(document)) },
  {
    code: 'E0942',
    broken: ofAny((document) => document.has('docFiscalOutro') && (document.text('dtCompDoc') ?? '') > '2025-12-31'),
  },
  {
    code: 'E0943',
    broken: ofAny((document, context) => isUnknownMunicipality(context, document, 'docFiscalOutro/cMunDocFiscal')),
  },
  { code: 'E0945', broken: ofAny((document) => hasWrongCnpj(document, 'fornec/CNPJ')) },
  { code: 'E0946', broken: ofAny((document, context) => isUnknownCnpj(context, document, 'fornec/CNPJ')) },
  { code: 'E0947', broken: ofAny((document) => hasWrongCpf(document, 'fornec/CPF')) },
  { code: 'E0948', broken: ofAny((document, context) => isUnknownCpf(context, document, 'fornec/CPF')) },
  // The annex has one rule for each of the two dates: both come for the same fault.
  { code: 'E0950', broken: ofAny((document) => isIssuedBeforeCompetence(document)) },
  { code: 'E0951', broken: ofAny((document) => isIssuedBeforeCompetence(document)) },
  {
    code: 'E0952',
    broken: ofAny((document) => document.has('xTpReeRepRes') && document.text('tpReeRepRes') !== '99'),
  },
  { code: 'E0953', broken: ofAny((document, { dps }) => document.cents('vlrReeRepRes') > dps.amountInCents) },
];

/** An NFS-e key (1) has 50 characters, those of NF-e (2) and CT-e (3) have 44. */
const KEY_LENGTH: Readonly<Record<string, number>> = { 1: 50, 2: 44, 3: 44 };

const hasRightLength = (document: Group): boolean => {
  const length = KEY_LENGTH[document.text('dFeNacional/tipoChaveDFe') ?? ''];
  return length === undefined || document.text('dFeNacional/chaveDFe')?.length === length;
};

const isIssuedBeforeCompetence = (document: Group): boolean =>
  (document.text('dtEmiDoc') ?? '') < (document.text('dtCompDoc') ?? '');
