import type { ForeignAmount } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { decimalFromCents } from '../shared/money.js';

/** Central Bank code of a currency, three digits (USD is 220), by ISO 4217 letters; the numeric ISO code is refused. */
export type CurrencyCode = (iso: string) => string | undefined;

/**
 * `serv/comExt`, foreign trade: supplied across the border (1; 0 is E0333) between unrelated parties (0), without support
 * mechanisms (01; 00 is E0341 and E0343), no goods moved (1; 0 is E0345, others need documents: E0352 to E0356), not shared
 * with the ministry of commerce (0), as the API has no fields for the other cases (domain.md section 10). Throws for a
 * currency without code, which acceptance has already refused.
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
