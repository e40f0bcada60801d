import { type Canonical, element, field } from '../common/canonical-xml.js';
import { withLineFeeds } from '../common/line-ends.js';
import { decimalFromCents } from '../common/money.js';
import type { ForeignAmount, ServiceLine } from '../invoice/events.js';

/**
 * `serv`: `locPrest`, the service, and foreign trade for a customer abroad (E0330). `locPrest` is always the provider's municipality, as the
 * API has no field for another place (E0302). `obra` (E0370) and `atvEvento` (E0390) never occur: lines of services that demand them are not
 * issuable (`src/domain/company/service-rules.ts`).
 */
export const serv = (
  municipality: string,
  line: ServiceLine,
  description: string,
  foreignAmount: ForeignAmount | undefined,
  currencyCode: CurrencyCode,
): Canonical =>
  element(
    'serv',
    element('locPrest', field('cLocPrestacao', municipality)),
    cServ(line, description),
    foreignAmount === undefined ? undefined : comExt(foreignAmount, currencyCode),
  );

/**
 * `serv/cServ`: a national code that the municipality administers (E0310, E0312), the municipal code where the line has one (E0314; 000 is
 * refused, E0315), and the NBS, which exports and IBSCBS demand (E0316, E0318, E0322). `xDescServ` goes as recorded but for its line ends,
 * never cut: its type takes line breaks and every script (docs/national-system.md#texts).
 */
const cServ = (line: ServiceLine, description: string): Canonical =>
  element(
    'cServ',
    field('cTribNac', line.serviceCode),
    field('cTribMun', line.municipalCode),
    field('xDescServ', withLineFeeds(description)),
    field('cNBS', line.nbs),
  );

/** Central Bank code of a currency, three digits (USD is 220), by ISO 4217 letters. The authorizer refuses the numeric ISO code. */
export type CurrencyCode = (iso: string) => string | undefined;

/**
 * `serv/comExt`, foreign trade (docs/national-system.md#foreign-trade): supplied across the border (1; 0 is E0333) between unrelated parties
 * (0), without support mechanisms (01; 00 is E0341 and E0343), no goods moved (1; 0 is E0345, others need documents: E0352 to E0356), not
 * shared with the ministry of commerce (0). The API has no fields for other cases. Throws for a currency without a code, which acceptance
 * has already refused.
 */
export const comExt = (amount: ForeignAmount, currencyCode: CurrencyCode): Canonical => {
  const tpMoeda = currencyCode(amount.currency);
  if (tpMoeda === undefined) throw new Error(`no Central Bank code for ${amount.currency}`);
  return element(
    'comExt',
    field('mdPrestacao', '1'),
    field('vincPrest', '0'),
    field('tpMoeda', tpMoeda),
    field('vServMoeda', decimalFromCents(amount.amountInCents)),
    field('mecAFComexP', '01'),
    field('mecAFComexT', '01'),
    field('movTempBens', '1'),
    field('mdic', '0'),
  );
};
