import { type Canonical, element, field } from '../common/canonical-xml.js';
import { type Cents, decimalFromCents } from '../common/money.js';
import { unreachable } from '../common/unreachable.js';
import type { Customer, IssuerFacts, ServiceLine } from '../invoice/events.js';

/**
 * `valores`: the amount in BRL, also of an export. It carries no discounts (E0427, E0431) or deductions (E0435 to E0454), for which the API
 * has no fields, and no `vReceb`, which belongs to an intermediary (E0424).
 */
export const valores = (amount: Cents, issuer: IssuerFacts, taxation: Taxation): Canonical =>
  element('valores', element('vServPrest', field('vServ', decimalFromCents(amount))), trib(issuer, taxation));

/** Decides `tribISSQN` and the groups that depend on it. */
export type Taxation = { kind: 'due' } | { kind: 'export'; resultCountry: string };

/**
 * Due (1) or exported (3). A service to a customer abroad is an export, unless LC 116 makes its ISSQN due where it is performed, which is
 * in Brazil. Such a service is taxable although it is foreign trade (E0529; docs/national-system.md#export).
 */
export const taxationOf = (customer: Customer | undefined, line: ServiceLine): Taxation =>
  customer?.type === 'foreign' && line.issqnDue !== 'where_performed'
    ? { kind: 'export', resultCountry: customer.address.country }
    : { kind: 'due' };

/**
 * `valores/trib/tribMun`, the ISSQN (docs/national-system.md#issqn). An export carries only the country of the result (E0590, E0591). The tax
 * is never withheld, as the API has no field for it (E0580, E0583, E0588, E0596). No rate is sent: the authorizer uses the municipality's
 * (E0600 to E0640).
 */
const tribMun = (taxation: Taxation): Canonical =>
  element(
    'tribMun',
    field('tribISSQN', taxation.kind === 'due' ? '1' : '3'),
    field('cPaisResult', taxation.kind === 'due' ? undefined : taxation.resultCountry),
    field('tpRetISSQN', '1'),
  );

/**
 * `valores/trib/totTrib`, the approximate taxes of Lei 12.741. Percentages of the company's table are declared in three parts, which every regime may
 * use. A single percentage has one form for each regime (E0710, E0712, E0713); outside the Simples it is declared as federal.
 */
const totTrib = (issuer: IssuerFacts): Canonical => element('totTrib', form(issuer));

const form = ({
  taxRegime,
  approximateTaxes: table,
  approximateTaxPercent: percent = NONE,
}: IssuerFacts): Canonical => {
  if (table !== undefined) return threeParts(table.federal, table.state, table.municipal);
  switch (taxRegime) {
    case 'mei':
      return field('indTotTrib', '0');
    case 'simples':
      return field('pTotTribSN', percent);
    case 'normal':
      return threeParts(percent, NONE, NONE);
    default:
      return unreachable(taxRegime);
  }
};

const threeParts = (federal: string, state: string, municipal: string): Canonical =>
  element('pTotTrib', field('pTotTribFed', federal), field('pTotTribEst', state), field('pTotTribMun', municipal));

const NONE = '0.00';

/**
 * `valores/trib`: the taxes other than IBS and CBS. `tribFed`, the federal taxes, is left out: forbidden to a MEI (E0676), optional to
 * others, and the API has no fields for its content.
 */
const trib = (issuer: IssuerFacts, taxation: Taxation): Canonical =>
  element('trib', tribMun(taxation), totTrib(issuer));
