import { type Cents, centsFromDecimal } from '../../domain/common/money.js';
import type { Dps } from './dps.js';

/**
 * A percentage, with two places, of an amount. Halves are rounded up, as in the known examples. Multiplies as bigint, because the product of a large
 * amount is beyond the integers that a number holds exactly.
 */
export const percentOf = (amount: Cents, percent: string): Cents =>
  Number((BigInt(amount) * BigInt(centsFromDecimal(percent) ?? 0) + 5000n) / 10_000n);

export const unconditionalDiscount = (dps: Dps): Cents => dps.cents('valores/vDescCondIncond/vDescIncond');

export const conditionalDiscount = (dps: Dps): Cents => dps.cents('valores/vDescCondIncond/vDescCond');

/** Deduction from the base of the ISSQN (`vCalcDR`): a percentage of the amount less discount, an amount, or the sum of documents (E0427). */
export const deduction = (dps: Dps): Cents => {
  const percent = dps.text('valores/vDedRed/pDR');
  if (percent !== undefined) return percentOf(dps.amountInCents - unconditionalDiscount(dps), percent);
  const documents = dps.each('valores/vDedRed/documentos/docDedRed');
  return documents.reduce((sum, document) => sum + document.cents('vDeducaoReducao'), dps.cents('valores/vDedRed/vDR'));
};

/** Reduction of the base by a municipal benefit (`vCalcBM`): an amount, or a percentage of the amount less discount and deduction. */
export const benefit = (dps: Dps): Cents => {
  const percent = dps.text(`${BM}/pRedBCBM`);
  if (percent === undefined) return dps.cents(`${BM}/vRedBCBM`);
  return percentOf(Math.max(0, dps.amountInCents - unconditionalDiscount(dps) - deduction(dps)), percent);
};

/** Base of the ISSQN: amount less unconditional discount, deduction and benefit; never negative. */
export const issqnBase = (dps: Dps): Cents =>
  Math.max(0, dps.amountInCents - unconditionalDiscount(dps) - deduction(dps) - benefit(dps));

/** Sum of CP, IRRF and the contributions of `vRetCSLL`, which are withheld together. */
export const withheldFederal = (dps: Dps): Cents =>
  dps.cents(`${FEDERAL}/vRetCP`) + dps.cents(`${FEDERAL}/vRetIRRF`) + dps.cents(`${FEDERAL}/vRetCSLL`);

/** Sum of the reimbursements, which the base of IBS and CBS leaves out (`vCalcReeRepRes`). */
export const reimbursements = (dps: Dps): Cents =>
  dps.each('IBSCBS/valores/gReeRepRes/documentos').reduce((sum, document) => sum + document.cents('vlrReeRepRes'), 0);

const BM = 'valores/trib/tribMun/BM';

const FEDERAL = 'valores/trib/tribFed';
