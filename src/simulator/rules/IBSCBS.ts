import { isAccessKey } from '../../domain/common/access-key.js';
import { asksForDeferral } from '../../domain/common/classification.js';
import { DECLARABLE_FROM } from '../../domain/common/ibs-cbs-calendar.js';
import {
  hasWrongCnpj,
  hasWrongCpf,
  hasWrongEmail,
  isUnknownCnpj,
  isUnknownCpf,
  isUnknownMunicipality,
} from './checks.js';
import type { Group } from './dps.js';
import { isPerformedAbroad, isPerformedInBrazil } from './facts.js';
import { type RuleContext, type Rules, rulesOfEach } from './rule.js';
import { asksForTpOper, OPERATIONS, OPERATIONS_ON_REAL_ESTATE, WORKS_ON_REAL_ESTATE } from './service-lists.js';

/** Operation, recipient, real estate and classification of IBS and CBS (annex I, group IBSCBS; docs/national-system.md#ibs-and-cbs). */
export const ibscbsRules: Rules = {
  E0850: ({ dps }) => dps.has('IBSCBS') && dps.competence < DECLARABLE_FROM,
  E0854: ({ dps }) => dps.has('IBSCBS') && dps.version < '1.01',
  E0901: ({ dps }) => dps.has('IBSCBS') && !OPERATIONS.has(operation(dps)),
  E0903: (context) => needsTpOper(context) && !context.dps.has('IBSCBS/tpOper'),
  E0904: (context) => !needsTpOper(context) && context.dps.has('IBSCBS/tpOper'),
  E0905: ({ dps }) => refersToNotes(dps) && !dps.has('IBSCBS/gRefNFSe'),
  E0906: ({ dps }) => !refersToNotes(dps) && dps.has('IBSCBS/gRefNFSe'),
  E0907: ({ dps }) => !dps.texts('IBSCBS/gRefNFSe/refNFSe').every(isAccessKey),
  E0910: ({ dps }) => dps.has('IBSCBS/dest') && dps.text('IBSCBS/indDest') !== '1',
  E0911: ({ dps }) => hasWrongCnpj(dps, 'IBSCBS/dest/CNPJ'),
  E0912: (context) => isUnknownCnpj(context, context.dps, 'IBSCBS/dest/CNPJ'),
  E0913: ({ dps }) => hasWrongCpf(dps, 'IBSCBS/dest/CPF'),
  E0914: (context) => isUnknownCpf(context, context.dps, 'IBSCBS/dest/CPF'),
  E0920: (context) => isUnknownMunicipality(context, context.dps, DEST_MUNICIPALITY),
  E0921: ({ dps, registers }) => {
    const registered = registers.company(dps.text('IBSCBS/dest/CNPJ') ?? '').municipality;
    return registered !== undefined && dps.has(DEST_MUNICIPALITY) && dps.text(DEST_MUNICIPALITY) !== registered;
  },
  E0928: ({ dps }) =>
    dps.has(IMOVEL) && !WORKS_ON_REAL_ESTATE.has(dps.serviceCode) && !OPERATIONS_ON_REAL_ESTATE.has(operation(dps)),
  E0930: ({ dps }) => hasWrongEmail(dps, 'IBSCBS/dest/email'),
  E0931: ({ dps }) => dps.has(IMOVEL) && WORKS_ON_REAL_ESTATE.has(dps.serviceCode),
  E0932: ({ dps }) =>
    !dps.has(IMOVEL) && !WORKS_ON_REAL_ESTATE.has(dps.serviceCode) && OPERATIONS_ON_REAL_ESTATE.has(operation(dps)),
  E0934: (context) =>
    isPerformedAbroad(context) && context.dps.has(`${IMOVEL}/end`) && !context.dps.has(`${IMOVEL}/end/endExt`),
  E0935: (context) => isPerformedInBrazil(context) && context.dps.has(`${IMOVEL}/end/endExt`),
  E0958: ({ dps, tables }) => isUnknownClassification(dps, tables, `${CLASSIFICATION}/cClassTrib`),
  E0959: ({ dps }) => isOutsideGroup(dps, `${CLASSIFICATION}/cClassTrib`, `${CLASSIFICATION}/CST`),
  E0964: ({ dps, tables }) => dps.has(REGULAR) && classificationOf(dps, tables)?.asksForRegular === false,
  E0965: ({ dps, tables }) => !dps.has(REGULAR) && classificationOf(dps, tables)?.asksForRegular === true,
  E0969: ({ dps, tables }) => isUnknownClassification(dps, tables, `${REGULAR}/cClassTribReg`),
  E0970: ({ dps }) => isOutsideGroup(dps, `${REGULAR}/cClassTribReg`, `${REGULAR}/CSTReg`),
  E0971: ({ dps }) => dps.has(DEFERRAL) && !asksForDeferral(declared(dps)),
  E0972: ({ dps }) => dps.has('IBSCBS') && !dps.has(DEFERRAL) && asksForDeferral(declared(dps)),
};

type Dps = RuleContext['dps'];

const DEST_MUNICIPALITY = 'IBSCBS/dest/end/endNac/cMun';

const IMOVEL = 'IBSCBS/imovel';

const CLASSIFICATION = 'IBSCBS/valores/trib/gIBSCBS';

const REGULAR = `${CLASSIFICATION}/gTribRegular`;

const DEFERRAL = `${CLASSIFICATION}/gDif`;

const declared = (dps: Dps): string => dps.text(`${CLASSIFICATION}/cClassTrib`) ?? '';

const classificationOf = (dps: Dps, { classification }: RuleContext['tables']) => classification(declared(dps));

const isUnknownClassification = (dps: Dps, { classification }: RuleContext['tables'], path: string): boolean =>
  dps.has(path) && classification(dps.text(path) ?? '') === undefined;

const operation = (dps: Dps): string => dps.text('IBSCBS/cIndOp') ?? '';

const needsTpOper = ({ dps }: RuleContext): boolean =>
  dps.has('IBSCBS') && (dps.has('IBSCBS/tpEnteGov') || asksForTpOper(dps.serviceCode));

/** `tpOper` 2 and 3 refer to earlier notes. */
const refersToNotes = (dps: Dps): boolean => ['2', '3'].includes(dps.text('IBSCBS/tpOper') ?? '');

/** True for a classification whose first three digits are not the declared CST. */
const isOutsideGroup = (dps: Dps, classification: string, cst: string): boolean =>
  dps.text(classification)?.startsWith(dps.text(cst) ?? '') === false;

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
