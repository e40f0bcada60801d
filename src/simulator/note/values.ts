import { type Canonical, element, field } from '../../domain/common/canonical-xml.js';
import { type Cents, decimalFromCents } from '../../domain/common/money.js';
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
import { hasSpecialRegime, isAllInsideSimples, isMei, isSuspended, isTaxable, isWithheld } from '../rules/facts.js';

/** Amounts that the authorizer computes (docs/national-system.md#computed-values). */
export type Values = {
  /** Absent where the ISSQN is not computed: where `vLiq` is the only amount, and for a ME/EPP all inside the Simples. */
  issqn?: { vCalcDR: Cents; vCalcBM: Cents; vBC: Cents; rate: string; vISSQN: Cents };
  /** Absent where `vLiq` is the only amount. What is withheld is subtracted from `vLiq` there too. */
  vTotalRet?: Cents;
  vLiq: Cents;
};

/** Computes the amounts. `defaultRate` is the rate, in percent with two places, of the municipality where the ISSQN is due. */
export const valuesOf = (dps: Dps, defaultRate: string): Values => {
  const issqn = hasIssqn(dps) ? issqnOf(dps, defaultRate) : undefined;
  const vTotalRet = withheldFederal(dps) + (isWithheld({ dps }) ? (issqn?.vISSQN ?? 0) : 0);
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

/** True where `vLiq` is the only amount: MEI, a service that is not taxable, a special regime, a suspended ISSQN (E1302, E1303, E1307, E1311). */
const isNetOnly = (dps: Dps): boolean =>
  !isTaxable({ dps }) || isMei({ dps }) || hasSpecialRegime({ dps }) || isSuspended({ dps });

const hasIssqn = (dps: Dps): boolean => !isNetOnly(dps) && (!isAllInsideSimples({ dps }) || isWithheld({ dps }));

const issqnOf = (dps: Dps, defaultRate: string): NonNullable<Values['issqn']> => {
  const vBC = issqnBase(dps);
  const rate = dps.text('valores/trib/tribMun/pAliq') ?? defaultRate;
  return { vCalcDR: deduction(dps), vCalcBM: benefit(dps), vBC, rate, vISSQN: percentOf(vBC, rate) };
};
