import { hasWrongCnpj, hasWrongCpf, isUnknownCnpj, isUnknownCpf, isUnknownMunicipality } from './checks.js';
import type { Group } from './dps.js';
import type { Rule, RuleContext } from './rule.js';

/** Documents of reimbursements (annex I, group gReeRepRes). A rule is broken when one document breaks it. */
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
  // The annex has one rule for each of the two dates; the same fault breaks both.
  { code: 'E0950', broken: ofAny((document) => isIssuedBeforeCompetence(document)) },
  { code: 'E0951', broken: ofAny((document) => isIssuedBeforeCompetence(document)) },
  {
    code: 'E0952',
    broken: ofAny((document) => document.has('xTpReeRepRes') && document.text('tpReeRepRes') !== '99'),
  },
  { code: 'E0953', broken: ofAny((document, { dps }) => document.cents('vlrReeRepRes') > dps.amountInCents) },
];

/** Characters of a key by kind of document: 1 NFS-e, 2 NF-e, 3 CT-e. */
const KEY_LENGTH: Readonly<Record<string, number>> = { 1: 50, 2: 44, 3: 44 };

const hasRightLength = (document: Group): boolean => {
  const length = KEY_LENGTH[document.text('dFeNacional/tipoChaveDFe') ?? ''];
  return length === undefined || document.text('dFeNacional/chaveDFe')?.length === length;
};

const isIssuedBeforeCompetence = (document: Group): boolean =>
  (document.text('dtEmiDoc') ?? '') < (document.text('dtCompDoc') ?? '');
