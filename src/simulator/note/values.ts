import { type Cents, centsFromDecimal, decimalFromCents } from '../../domain/shared/money.js';
import { type Canonical, element, field } from '../../xml/element.js';
import type { Dps } from '../rules/dps.js';

/** Amounts that the authorizer computes (domain.md section 14). */
export type Values = {
  /** Absent where the ISSQN is not computed: MEI, no taxable service, ME/EPP all inside the Simples. */
  issqn?: { vBC: Cents; rate: string; vISSQN: Cents };
  vTotalRet: Cents;
  vLiq: Cents;
};

const TRIB = 'valores/trib';

/** `defaultRate` is the municipality's percent with two places. Halves are rounded up, which fits the known examples. */
export const valuesOf = (dps: Dps, defaultRate: string): Values => {
  const cents = (path: string): Cents => centsFromDecimal(dps.text(path) ?? '') ?? 0;
  const discounts = cents('valores/vDescCondIncond/vDescIncond') + cents('valores/vDescCondIncond/vDescCond');
  const issqn = hasIssqn(dps) ? issqnOf(dps, cents, defaultRate) : undefined;
  const withheldIssqn = isWithheld(dps) ? (issqn?.vISSQN ?? 0) : 0;
  const federal =
    cents(`${TRIB}/tribFed/vRetCP`) + cents(`${TRIB}/tribFed/vRetIRRF`) + cents(`${TRIB}/tribFed/vRetCSLL`);
  const vTotalRet = federal + withheldIssqn;
  return {
    ...(issqn !== undefined && { issqn }),
    vTotalRet,
    vLiq: Math.max(0, dps.amountInCents - discounts - vTotalRet),
  };
};

/** The `valores` group of an NFS-e. */
export const valores = ({ issqn, vTotalRet, vLiq }: Values): Canonical =>
  element(
    'valores',
    field('vBC', issqn && decimalFromCents(issqn.vBC)),
    field('pAliqAplic', issqn?.rate),
    field('vISSQN', issqn && decimalFromCents(issqn.vISSQN)),
    field('vTotalRet', vTotalRet > 0 ? decimalFromCents(vTotalRet) : undefined),
    field('vLiq', decimalFromCents(vLiq)),
  );

/** Percent with two places of an amount, half up. */
export const percentOf = (amount: Cents, percent: string): Cents =>
  Math.floor((amount * (centsFromDecimal(percent) ?? 0) + 5000) / 10_000);

const isWithheld = (dps: Dps): boolean => dps.text(`${TRIB}/tribMun/tpRetISSQN`) !== '1';

const hasIssqn = (dps: Dps): boolean => {
  if (dps.text(`${TRIB}/tribMun/tribISSQN`) !== '1') return false;
  switch (dps.text('prest/regTrib/opSimpNac')) {
    case '2':
      return false;
    case '3':
      return dps.text('prest/regTrib/regApTribSN') !== '1' || isWithheld(dps);
    default:
      return true;
  }
};

const issqnOf = (dps: Dps, cents: (path: string) => Cents, defaultRate: string): NonNullable<Values['issqn']> => {
  const share = dps.text('valores/vDedRed/pDR');
  const deduction = share === undefined ? cents('valores/vDedRed/vDR') : percentOf(dps.amountInCents, share);
  const vBC = Math.max(0, dps.amountInCents - cents('valores/vDescCondIncond/vDescIncond') - deduction);
  const rate = dps.text(`${TRIB}/tribMun/pAliq`) ?? defaultRate;
  return { vBC, rate, vISSQN: percentOf(vBC, rate) };
};
