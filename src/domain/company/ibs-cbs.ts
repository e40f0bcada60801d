import type { CatalogueLine } from '../catalog/events.js';
import { type Classifications, cstOf } from '../common/classification.js';
import { dutyOf } from '../common/ibs-cbs-calendar.js';
import { present } from '../common/present.js';
import type { FiscalDate } from '../common/time.js';
import type { Customer, IbsCbs } from '../invoice/events.js';
import type { IbsCbsOfCompany, TaxRegime } from './events.js';
import { isKnown, type Place, placeOf, unmetByOperation } from './ibs-cbs-operations.js';
import { isDueWherePerformed } from './service-rules.js';

/** What annex VIII allows for IBS and CBS to a service under an NBS code. */
export type IbsCbsOptions = { cIndOp: readonly string[]; cClassTrib: readonly string[] };

export type AnnexVIII = (serviceCode: string, nbs: string) => IbsCbsOptions | undefined;

export type IbsCbsTables = { annexVIII: AnnexVIII; classification: Classifications };

/**
 * Operation and classification of a line (ADR 46). `place` says what places the operation. `data` names what is missing: data that an operator
 * enters, and what the API has no fields for.
 */
type Resolved =
  | { kind: 'resolved'; operation: string; place: Place; classification: string; regular?: string }
  | { kind: 'missing'; data: readonly string[] };

type Line = Pick<CatalogueLine, 'serviceCode' | 'nbs' | 'indOp' | 'classTrib' | 'classTribRegular'>;

/** The company's choice precedes the line's, which precedes annex VIII where that leaves one option. */
export const resolveDeclaration = (
  line: Line,
  company: IbsCbsOfCompany | undefined,
  tables: IbsCbsTables,
): Resolved => {
  const { serviceCode, nbs } = line;
  const chosen = company?.services.find((service) => service.serviceCode === serviceCode);
  const annex = nbs === undefined ? undefined : fromAnnex(serviceCode, nbs, tables.annexVIII);
  const operation = chosen?.indOp ?? line.indOp ?? annex?.indOp;
  const by = [chosen, line, annex].find((source) => source?.classTrib !== undefined);
  const { classTrib: classification, classTribRegular: regular } = by ?? {};
  const place = operation === undefined ? undefined : placeOf(operation);
  const asksForRegular = classification !== undefined && tables.classification(classification)?.asksForRegular === true;
  const data = [
    ...(nbs === undefined ? ['nbs'] : []),
    ...(operation === undefined ? ['ind_op'] : unmetByOperation(operation)),
    ...(classification === undefined ? ['class_trib'] : []),
    ...(asksForRegular && regular === undefined ? ['class_trib_regular'] : []),
    ...(asksForTpOper(serviceCode) ? ['tpOper (E0903)'] : []),
  ];
  if (data.length > 0 || operation === undefined || place === undefined || classification === undefined)
    return { kind: 'missing', data };
  return present({ kind: 'resolved' as const, operation, place, classification, regular });
};

/**
 * What annex VIII decides for a line: operation and classification, each where the annex has one option. The annex alone does not decide an operation
 * in another place than the provider's. The company file or the catalogue line must say that a journey begins, or a load goes, where the company is.
 * An operation that annex C does not have is not decided either.
 */
export const fromAnnex = (
  serviceCode: string,
  nbs: string,
  annex: AnnexVIII,
): Pick<CatalogueLine, 'indOp' | 'classTrib' | 'classTribRegular'> => {
  const { cIndOp = [], cClassTrib = [] } = annex(serviceCode, nbs) ?? {};
  const [indOp, ...otherOperations] = cIndOp;
  const [classTrib, ...otherClassifications] = cClassTrib;
  const isResolved =
    indOp !== undefined && otherOperations.length === 0 && isKnown(indOp) && placeOf(indOp) !== 'confirmed';
  return present({
    indOp: isResolved ? indOp : undefined,
    classTrib: otherClassifications.length > 0 ? undefined : classTrib,
  });
};

/**
 * The reduction of a line's notes that no person chose: annex VIII gives it as the only classification. A reduction may have conditions of the
 * company (ADR 46). Undefined where the company file chose a classification, also the same. A catalogue line with the classification of the annex
 * is no choice: an export of the catalogue holds that classification already.
 */
export const reductionToConfirm = (
  line: Line,
  company: IbsCbsOfCompany | undefined,
  { annexVIII, classification }: IbsCbsTables,
): { serviceCode: string; classification: string; percent: number } | undefined => {
  const { serviceCode, nbs, classTrib } = line;
  const isChosen = company?.services.some((one) => one.serviceCode === serviceCode && one.classTrib !== undefined);
  const only = nbs === undefined ? undefined : fromAnnex(serviceCode, nbs, annexVIII).classTrib;
  if (isChosen === true || only === undefined || (classTrib ?? only) !== only) return undefined;
  const { reductionIbs = 0, reductionCbs = 0, rate } = classification(only) ?? {};
  const percent = rate === 'none' && cstOf(only) === EXEMPTION ? 100 : Math.max(reductionIbs, reductionCbs);
  return percent === 0 ? undefined : { serviceCode, classification: only, percent };
};

/** CST of an exemption. The other classifications without tax (CST 410 and 820) say what the operation is, or where else it is declared. */
const EXEMPTION = '400';

/** Items 10.05, 15.09, 17.12 and 25.05 of LC 116: E0903 demands `tpOper`, for which the API has no field. */
const asksForTpOper = (serviceCode: string): boolean => /^(?:1005|1509|1712|2505)/.test(serviceCode);

type Invoice = {
  taxRegime: TaxRegime;
  serviceCode: string;
  competence: FiscalDate;
  customer: Customer | undefined;
  company: IbsCbsOfCompany | undefined;
};

/**
 * The declaration of an invoice, decided at its acceptance. Undefined where none may be sent, or each would be untrue (ADR 46). An invoice
 * declares from the date of its regime on (docs/national-system.md#ibs-and-cbs-by-date), and its line must be resolved. An operation that the
 * customer's address places needs that address (E0187, E0234). For a customer in Brazil this is the address that a registry knows, for a customer
 * abroad the address of the request. A customer abroad gets the operation of annex C for customers abroad. The company file chose the classification
 * of exports. A service whose ISSQN is due where it is performed is no export (E0529): the address abroad does not place such an operation.
 */
export const declarationOf = (resolved: Resolved, invoice: Invoice): IbsCbs | undefined => {
  const { taxRegime, serviceCode, competence, customer, company } = invoice;
  if (company?.declare === false || competence < dutyOf(taxRegime, serviceCode).declaredFrom) return undefined;
  if (resolved.kind === 'missing') return undefined;
  const { operation, place, classification, regular } = resolved;
  const declared = present({ cIndOp: operation, cClassTrib: classification, cClassTribReg: regular });
  if (place !== 'customer') return declared;
  if (customer?.type === 'foreign')
    return isDueWherePerformed(serviceCode) ? undefined : exportOf(operation, company?.exportClassTrib);
  return customer?.document === undefined || customer.address === undefined ? undefined : declared;
};

/** Undefined for an operation that annex C does not have for customers abroad. */
const exportOf = (operation: string, classification: string | undefined): IbsCbs | undefined => {
  const cIndOp = ABROAD[operation];
  return cIndOp === undefined || classification === undefined ? undefined : { cIndOp, cClassTrib: classification };
};

/** The operations of annex C for a customer abroad. */
const ABROAD: Readonly<Record<string, string>> = { 100101: '100102', 100301: '100302', 100501: '100502' };

/** The classifications of IT 2025.002 for exports; which of them is right for a service is open. */
export const EXPORT_CLASSIFICATIONS = ['410004', '410027'] as const;
