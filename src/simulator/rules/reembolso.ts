import { hasWrongCnpj, hasWrongCpf, isUnknownCnpj, isUnknownCpf, isUnknownMunicipality } from './checks.js';
import type { Group } from './dps.js';
import { rulesOfEach } from './rule.js';

const isIssuedBeforeCompetence = (document: Group): boolean =>
  (document.text('dtEmiDoc') ?? '') < (document.text('dtCompDoc') ?? '');

/** Documents of reimbursements (annex I, group gReeRepRes). */
export const reembolsoRules = rulesOfEach('IBSCBS/valores/gReeRepRes/documentos', {
  E0940: (document) => document.has('dFeNacional') && !hasRightLength(document),
  E0942: (document) => document.has('docFiscalOutro') && (document.text('dtCompDoc') ?? '') > '2025-12-31',
  E0943: (document, context) => isUnknownMunicipality(context, document, 'docFiscalOutro/cMunDocFiscal'),
  E0945: (document) => hasWrongCnpj(document, 'fornec/CNPJ'),
  E0946: (document, context) => isUnknownCnpj(context, document, 'fornec/CNPJ'),
  E0947: (document) => hasWrongCpf(document, 'fornec/CPF'),
  E0948: (document, context) => isUnknownCpf(context, document, 'fornec/CPF'),
  // The annex has one rule for each of the two dates; the same fault breaks both.
  E0950: isIssuedBeforeCompetence,
  E0951: isIssuedBeforeCompetence,
  E0952: (document) => document.has('xTpReeRepRes') && document.text('tpReeRepRes') !== '99',
  E0953: (document, { dps }) => document.cents('vlrReeRepRes') > dps.amountInCents,
});

/** Characters of a key by kind of document: 1 NFS-e, 2 NF-e, 3 CT-e. */
const KEY_LENGTH: Readonly<Record<string, number>> = { 1: 50, 2: 44, 3: 44 };

const hasRightLength = (document: Group): boolean => {
  const length = KEY_LENGTH[document.text('dFeNacional/tipoChaveDFe') ?? ''];
  return length === undefined || document.text('dFeNacional/chaveDFe')?.length === length;
};
