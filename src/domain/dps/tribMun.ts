import type { Customer, ServiceLine } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';

/** What `tribISSQN` and the groups that depend on it are decided by. */
export type Taxation = { kind: 'due' } | { kind: 'export'; resultCountry: string };

/**
 * Due (1) or exported (3). A service to a customer abroad is an export unless LC 116 makes its ISSQN due where it is
 * performed, which is in Brazil: that is taxable, though it is foreign trade (E0529; scenarios 58 and 68).
 */
export const taxationOf = (customer: Customer | undefined, line: ServiceLine): Taxation =>
  customer?.type === 'foreign' && line.issqnDue !== 'where_performed'
    ? { kind: 'export', resultCountry: customer.address.country }
    : { kind: 'due' };

/**
 * `valores/trib/tribMun`, the ISSQN: the country of the result for an export and nothing else (E0590, E0591); never withheld,
 * as the API has no field for it (E0580, E0583, E0588, E0596); no rate, the authorizer uses the municipality's (E0600 to
 * E0640; domain.md 9.5).
 */
export const tribMun = (taxation: Taxation): Canonical =>
  element(
    'tribMun',
    field('tribISSQN', taxation.kind === 'due' ? '1' : '3'),
    field('cPaisResult', taxation.kind === 'due' ? undefined : taxation.resultCountry),
    field('tpRetISSQN', '1'),
  );
