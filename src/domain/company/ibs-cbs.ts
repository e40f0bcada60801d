import { isDeclarable, isIdentifiedByCustomer } from '../dps/cIndOp.js';
import type { IbsCbs, IssuerFacts, ServiceLine } from '../invoice/facts.js';

/** Annex VIII: what a service under an NBS code may be for IBS and CBS. */
export type IbsCbsOptions = { cIndOp: readonly string[]; cClassTrib: readonly string[] };

export type AnnexVIII = (serviceCode: string, nbs: string) => IbsCbsOptions | undefined;

/**
 * The operation and classification of a line, where nobody has to choose (ADR 16): annex VIII has one of each, the operation
 * asks nothing that this service does not know, and the classification is full taxation, the one without conditions. Only
 * for the normal regime: optantes of the Simples declare nothing in 2026.
 */
export const settledIbsCbs = (line: ServiceLine, issuer: IssuerFacts, annex: AnnexVIII): IbsCbs | undefined => {
  if (issuer.taxRegime !== 'normal' || line.nbs === undefined || asksForTpOper(line.serviceCode)) return undefined;
  const { cIndOp = [], cClassTrib = [] } = annex(line.serviceCode, line.nbs) ?? {};
  const [operation, ...otherOperations] = cIndOp;
  const [classification, ...otherClassifications] = cClassTrib;
  if (operation === undefined || otherOperations.length > 0 || !isDeclarable(operation)) return undefined;
  if (classification !== FULL_TAXATION || otherClassifications.length > 0) return undefined;
  return { cIndOp: operation, cClassTrib: classification };
};

/** Only then is an address worth the risk of a postal code that the authorizer places elsewhere (E0234, E0240). */
export const needsCustomerAddress = (line: ServiceLine): boolean => isIdentifiedByCustomer(line.ibsCbs?.cIndOp);

const FULL_TAXATION = '000001';

/** Items 10.05, 15.09, 17.12 and 25.05 of LC 116: E0903 demands `tpOper`, which nobody has told us. */
const asksForTpOper = (serviceCode: string): boolean => /^(?:1005|1509|1712|2505)/.test(serviceCode);
