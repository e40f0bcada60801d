import { centsFromDecimal, decimalFromCents } from '../../domain/shared/money.js';
import { type Canonical, element, field } from '../../xml/element.js';
import type { Dps } from '../rules/dps.js';
import { percentOf, type Values } from './values.js';

/** Test rates of 2026 (domain.md section 11). */
const P_IBS_UF = '0.10';
const P_IBS_MUN = '0.00';
const P_CBS = '0.90';

/** The computed `IBSCBS` group of an NFS-e whose DPS declares one; undefined otherwise. */
export const ibscbs = (dps: Dps, values: Values, nameOf: (ibge: string) => string): Canonical | undefined => {
  if (!dps.has('IBSCBS')) return undefined;
  const cents = (path: string) => centsFromDecimal(dps.text(path) ?? '') ?? 0;
  const taxes = (values.issqn?.vISSQN ?? 0) + cents(`${PIS_COFINS}/vPis`) + cents(`${PIS_COFINS}/vCofins`);
  const vBC = Math.max(0, dps.amountInCents - cents('valores/vDescCondIncond/vDescIncond') - taxes);
  const place = dps.text('toma/end/endNac/cMun') ?? dps.municipality;
  const vIBSUF = percentOf(vBC, P_IBS_UF);
  const vIBSMun = percentOf(vBC, P_IBS_MUN);
  return element(
    'IBSCBS',
    field('cLocalidadeIncid', place),
    field('xLocalidadeIncid', nameOf(place)),
    element(
      'valores',
      field('vBC', decimalFromCents(vBC)),
      field('vCalcReeRepRes', '0.00'),
      element('uf', field('pIBSUF', P_IBS_UF), field('pAliqEfetUF', P_IBS_UF)),
      element('mun', field('pIBSMun', P_IBS_MUN), field('pAliqEfetMun', P_IBS_MUN)),
      element('fed', field('pCBS', P_CBS), field('pAliqEfetCBS', P_CBS)),
    ),
    element(
      'totCIBS',
      // Until 2026 the total of the note is its net amount.
      field('vTotNF', decimalFromCents(values.vLiq)),
      element(
        'gIBS',
        field('vIBSTot', decimalFromCents(vIBSUF + vIBSMun)),
        element('gIBSUFTot', field('vIBSUF', decimalFromCents(vIBSUF))),
        element('gIBSMunTot', field('vIBSMun', decimalFromCents(vIBSMun))),
      ),
      element('gCBS', field('vCBS', decimalFromCents(percentOf(vBC, P_CBS)))),
    ),
  );
};

const PIS_COFINS = 'valores/trib/tribFed/piscofins';
