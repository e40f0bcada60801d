import { type Canonical, element, field } from '../../domain/shared/canonical-xml.js';
import { type Cents, decimalFromCents } from '../../domain/shared/money.js';
import {
  benefit,
  conditionalDiscount,
  deduction,
  issqnBase,
  percentOf,
  unconditionalDiscount,
  withheldFederal,
} from '../rules/amounts.js';
import type { Dps } from '../rules/dps.js';

/** Amounts that the authorizer computes (docs/national-system.md#computed-values). */
export type Values = {
  /** Absent where the ISSQN is not computed: MEI, a service that is not taxable, ME/EPP all inside the Simples. */
  issqn?: { vCalcDR: Cents; vCalcBM: Cents; vBC: Cents; rate: string; vISSQN: Cents };
  /** Absent where `vLiq` is the only amount: MEI, immunity, export, non-incidence. What is withheld is subtracted from `vLiq` there too. */
  vTotalRet?: Cents;
  vLiq: Cents;
};

const TRIB = 'valores/trib';

/** Computes the amounts. `defaultRate` is the rate, in percent with two places, of the municipality where the ISSQN is due. */
export const valuesOf = (dps: Dps, defaultRate: string): Values => {
  const issqn = hasIssqn(dps) ? issqnOf(dps, defaultRate) : undefined;
  const vTotalRet = withheldFederal(dps) + (isWithheld(dps) ? (issqn?.vISSQN ?? 0) : 0);
  const discounts = unconditionalDiscount(dps) + conditionalDiscount(dps);
  return {
    ...(issqn !== undefined && { issqn }),
    ...(isNetOnly(dps) ? {} : { vTotalRet }),
    vLiq: Math.max(0, dps.amountInCents - discounts - vTotalRet),
  };
};

/** The `valores` group of an NFS-e. */
export const valores = ({ issqn, vTotalRet, vLiq }: Values): Canonical =>
  element(
    'valores',
    field('vCalcDR', issqn && positive(issqn.vCalcDR)),
    field('vCalcBM', issqn && positive(issqn.vCalcBM)),
    field('vBC', issqn && decimalFromCents(issqn.vBC)),
    field('pAliqAplic', issqn?.rate),
    field('vISSQN', issqn && decimalFromCents(issqn.vISSQN)),
    field('vTotalRet', positive(vTotalRet)),
    field('vLiq', decimalFromCents(vLiq)),
  );

const positive = (amount: Cents = 0): string | undefined => (amount > 0 ? decimalFromCents(amount) : undefined);

const isWithheld = (dps: Dps): boolean => dps.text(`${TRIB}/tribMun/tpRetISSQN`) !== '1';

/** True where `vLiq` is the only amount (E1302, E1303). */
const isNetOnly = (dps: Dps): boolean =>
  dps.text(`${TRIB}/tribMun/tribISSQN`) !== '1' || dps.text('prest/regTrib/opSimpNac') === '2';

const hasIssqn = (dps: Dps): boolean => {
  if (isNetOnly(dps)) return false;
  const isInsideSimples = dps.text('prest/regTrib/opSimpNac') === '3' && dps.text('prest/regTrib/regApTribSN') === '1';
  return !isInsideSimples || isWithheld(dps);
};

const issqnOf = (dps: Dps, defaultRate: string): NonNullable<Values['issqn']> => {
  const vBC = issqnBase(dps);
  const rate = dps.text(`${TRIB}/tribMun/pAliq`) ?? defaultRate;
  return { vCalcDR: deduction(dps), vCalcBM: benefit(dps), vBC, rate, vISSQN: percentOf(vBC, rate) };
};
