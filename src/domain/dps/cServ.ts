import type { ServiceLine } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';

/**
 * `serv/cServ`, what was done: a national code that the municipality administers (E0310, E0312), the municipality's own
 * where the line has one (E0314; 000 is refused, E0315), and the NBS, which exports and IBSCBS demand (E0316, E0318,
 * E0322). `xDescServ` goes as recorded, never cut: its type takes line breaks and every script (domain.md section 5).
 */
export const cServ = (line: ServiceLine, description: string): Canonical =>
  element(
    'cServ',
    field('cTribNac', line.serviceCode),
    field('cTribMun', line.municipalCode),
    field('xDescServ', description),
    field('cNBS', line.nbs),
  );
