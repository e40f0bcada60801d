import { type Canonical, element, field } from '../../domain/common/canonical-xml.js';
import { decimalFromCents } from '../../domain/common/money.js';
import { percentOf, reimbursements, unconditionalDiscount } from '../rules/amounts.js';
import type { Dps } from '../rules/dps.js';
import { OPERATIONS_BY_CUSTOMER } from '../rules/service-lists.js';
import type { Values } from './values.js';

/** Test rates of 2026, in percent (docs/national-system.md#ibs-and-cbs). */
const P_IBS_UF = '0.10';
const P_IBS_MUN = '0.00';
const P_CBS = '0.90';

/** The computed `IBSCBS` group of an NFS-e whose DPS declares one; undefined otherwise. */
export const ibscbs = (dps: Dps, values: Values, nameOf: (ibge: string) => string): Canonical | undefined => {
  if (!dps.has('IBSCBS')) return undefined;
  // Until 2026 PIS and COFINS are subtracted from the base, and the total of the note is its net amount. From 2027 on IBS and CBS are added
  // to that total.
  const isTestYear = dps.competence < '2027';
  const pisCofins = isTestYear ? dps.cents(`${PIS_COFINS}/vPis`) + dps.cents(`${PIS_COFINS}/vCofins`) : 0;
  const taxes = (values.issqn?.vISSQN ?? 0) + pisCofins;
  const vCalcReeRepRes = reimbursements(dps);
  const vBC = Math.max(0, dps.amountInCents - unconditionalDiscount(dps) - vCalcReeRepRes - taxes);
  const place = placeOf(dps);
  const vIBSUF = percentOf(vBC, P_IBS_UF);
  const vIBSMun = percentOf(vBC, P_IBS_MUN);
  const vCBS = percentOf(vBC, P_CBS);
  const onTop = isTestYear ? 0 : vIBSUF + vIBSMun + vCBS;
  return element(
    'IBSCBS',
    field('cLocalidadeIncid', place),
    field('xLocalidadeIncid', nameOf(place)),
    element(
      'valores',
      field('vBC', decimalFromCents(vBC)),
      field('vCalcReeRepRes', decimalFromCents(vCalcReeRepRes)),
      element('uf', field('pIBSUF', P_IBS_UF), field('pAliqEfetUF', P_IBS_UF)),
      element('mun', field('pIBSMun', P_IBS_MUN), field('pAliqEfetMun', P_IBS_MUN)),
      element('fed', field('pCBS', P_CBS), field('pAliqEfetCBS', P_CBS)),
    ),
    element(
      'totCIBS',
      field('vTotNF', decimalFromCents(values.vLiq + onTop)),
      element(
        'gIBS',
        field('vIBSTot', decimalFromCents(vIBSUF + vIBSMun)),
        element('gIBSUFTot', field('vIBSUF', decimalFromCents(vIBSUF))),
        element('gIBSMunTot', field('vIBSMun', decimalFromCents(vIBSMun))),
      ),
      element('gCBS', field('vCBS', decimalFromCents(vCBS))),
    ),
  );
};

const PIS_COFINS = 'valores/trib/tribFed/piscofins';

/** Municipality where IBS and CBS are due, by `cIndOp` (annex C): that of the customer or recipient, or the place of performance. */
const placeOf = (dps: Dps): string => {
  const party = dps.text('IBSCBS/indDest') === '1' ? 'IBSCBS/dest' : 'toma';
  const place = OPERATIONS_BY_CUSTOMER.has(dps.text('IBSCBS/cIndOp') ?? '')
    ? dps.text(`${party}/end/endNac/cMun`)
    : dps.text('serv/locPrest/cLocPrestacao');
  return place ?? dps.municipality;
};
