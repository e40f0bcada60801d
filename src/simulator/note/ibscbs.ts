import { type Canonical, element, field } from '../../domain/common/canonical-xml.js';
import type { Classification } from '../../domain/common/classification.js';
import { ON_TOP_FROM, type Rate, ratesOf } from '../../domain/common/ibs-cbs-calendar.js';
import { type Cents, decimalFromCents } from '../../domain/common/money.js';
import type { Tables } from '../options.js';
import { percentOf, reimbursements, unconditionalDiscount } from '../rules/amounts.js';
import type { Dps } from '../rules/dps.js';
import { OPERATIONS_BY_CUSTOMER } from '../rules/service-lists.js';
import type { Values } from './values.js';

/** The computed `IBSCBS` group of an NFS-e whose DPS declares one; undefined otherwise. */
export const ibscbs = (
  dps: Dps,
  values: Values,
  tables: Pick<Tables, 'classification'>,
  nameOf: NameOf,
): Canonical | undefined => {
  if (!dps.has('IBSCBS')) return undefined;
  const place = placeOf(dps);
  const isOnTop = dps.competence >= ON_TOP_FROM;
  // Until 2026 PIS and COFINS are subtracted from the base.
  const pisCofins = isOnTop ? 0 : dps.cents(`${PIS_COFINS}/vPis`) + dps.cents(`${PIS_COFINS}/vCofins`);
  const taxes = (values.issqn?.vISSQN ?? 0) + pisCofins;
  const vCalcReeRepRes = reimbursements(dps);
  const vBC = Math.max(0, dps.amountInCents - unconditionalDiscount(dps) - vCalcReeRepRes - taxes);
  const { uf, mun, cbs } = sharesOf(dps, tables.classification(dps.text(`${DECLARED}/cClassTrib`) ?? ''));
  const vIBSUF = percentOf(vBC, uf.effective);
  const vIBSMun = percentOf(vBC, mun.effective);
  const vCBS = percentOf(vBC, cbs.effective);
  const onTop = isOnTop ? vIBSUF + vIBSMun + vCBS : 0;
  // The largest amount with taxes on top is no safe integer any more.
  const vTotNF = BigInt(values.vLiq) + BigInt(onTop);
  return element(
    'IBSCBS',
    field('cLocalidadeIncid', place),
    field('xLocalidadeIncid', nameOf(place)),
    element(
      'valores',
      field('vBC', decimalFromCents(vBC)),
      field('vCalcReeRepRes', decimalFromCents(vCalcReeRepRes)),
      element('uf', field('pIBSUF', uf.nominal), field('pRedAliqUF', uf.reduction), field('pAliqEfetUF', uf.effective)),
      element(
        'mun',
        field('pIBSMun', mun.nominal),
        field('pRedAliqMun', mun.reduction),
        field('pAliqEfetMun', mun.effective),
      ),
      element(
        'fed',
        field('pCBS', cbs.nominal),
        field('pRedAliqCBS', cbs.reduction),
        field('pAliqEfetCBS', cbs.effective),
      ),
    ),
    element(
      'totCIBS',
      field('vTotNF', decimalFromCents(vTotNF)),
      element(
        'gIBS',
        field('vIBSTot', decimalFromCents(vIBSUF + vIBSMun)),
        element(
          'gIBSUFTot',
          field('vDifUF', deferred(dps, 'pDifUF', vIBSUF)),
          field('vIBSUF', decimalFromCents(vIBSUF)),
        ),
        element(
          'gIBSMunTot',
          field('vDifMun', deferred(dps, 'pDifMun', vIBSMun)),
          field('vIBSMun', decimalFromCents(vIBSMun)),
        ),
      ),
      element('gCBS', field('vDifCBS', deferred(dps, 'pDifCBS', vCBS)), field('vCBS', decimalFromCents(vCBS))),
      regularTaxation(dps, vBC, tables),
    ),
  );
};

type NameOf = (ibge: string) => string;

const PIS_COFINS = 'valores/trib/tribFed/piscofins';
const DECLARED = 'IBSCBS/valores/trib/gIBSCBS';

/** Percentages with two places. `reduction` is absent for a classification without one (E1550, E1551). */
type Share = { nominal: string; reduction: string | undefined; effective: string };

/** The rates of the competence under a classification. Special rates, which some classifications have, are taken as the standard ones. */
const sharesOf = (dps: Dps, classification: Classification | undefined) => {
  const { ibsUf, ibsMun, cbs } = ratesOf(dps.competence);
  const { reductionIbs = 0, reductionCbs = 0, rate = 'standard' } = classification ?? {};
  const share = (nominal: string, reduction: number): Share => ({
    nominal,
    reduction: reduction === 0 ? undefined : `${reduction}.00`,
    // A rate in hundredths of a percent is computed with like an amount in cents.
    effective:
      rate === 'none'
        ? '0.00'
        : decimalFromCents(percentOf(Math.round(Number(nominal) * 100), `${100 - reduction}.00`)),
  });
  return {
    uf: share(percentageOf(ibsUf), reductionIbs),
    mun: share(percentageOf(ibsMun), reductionIbs),
    cbs: share(percentageOf(cbs), reductionCbs),
  };
};

const percentageOf = (rate: Rate): string => ('percent' in rate ? rate.percent : rate.simulated);

/** The deferred part of a tax, where the DPS declares a deferral (E1565 to E1571, E1580). */
const deferred = (dps: Dps, name: string, tax: Cents): string | undefined => {
  const percent = dps.text(`${DECLARED}/gDif/${name}`);
  return percent === undefined ? undefined : decimalFromCents(percentOf(tax, percent));
};

/** What would be due without the suspension, where the DPS declares the regular taxation (E1583, E1584). */
const regularTaxation = (dps: Dps, vBC: Cents, { classification }: Pick<Tables, 'classification'>) => {
  const regular = dps.text(`${DECLARED}/gTribRegular/cClassTribReg`);
  if (regular === undefined) return undefined;
  const { uf, mun, cbs } = sharesOf(dps, classification(regular));
  const taxed = ({ effective }: Share): string => decimalFromCents(percentOf(vBC, effective));
  return element(
    'gTribRegular',
    field('pAliqEfeRegIBSUF', uf.effective),
    field('vTribRegIBSUF', taxed(uf)),
    field('pAliqEfeRegIBSMun', mun.effective),
    field('vTribRegIBSMun', taxed(mun)),
    field('pAliqEfeRegCBS', cbs.effective),
    field('vTribRegCBS', taxed(cbs)),
  );
};

/** Municipality where IBS and CBS are due, by `cIndOp` (annex C): that of the customer or recipient, or the place of performance. */
const placeOf = (dps: Dps): string => {
  const party = dps.text('IBSCBS/indDest') === '1' ? 'IBSCBS/dest' : 'toma';
  const place = OPERATIONS_BY_CUSTOMER.has(dps.text('IBSCBS/cIndOp') ?? '')
    ? dps.text(`${party}/end/endNac/cMun`)
    : dps.text('serv/locPrest/cLocPrestacao');
  return place ?? dps.municipality;
};
