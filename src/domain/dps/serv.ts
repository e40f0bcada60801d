import type { ServiceLine } from '../invoice/events.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';

/**
 * `serv`: the service, performed where the provider is. `xDescServ` goes as recorded, never cut: its type takes line
 * breaks and every script (domain.md section 5).
 */
export const serv = (
  municipality: string,
  line: ServiceLine,
  description: string,
  comExt: Canonical | undefined,
): Canonical =>
  element(
    'serv',
    element('locPrest', field('cLocPrestacao', municipality)),
    element(
      'cServ',
      field('cTribNac', line.serviceCode),
      field('cTribMun', line.municipalCode),
      field('xDescServ', description),
      field('cNBS', line.nbs),
    ),
    comExt,
  );
