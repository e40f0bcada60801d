import type { IssuerFacts } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { type Cents, decimalFromCents } from '../shared/money.js';
import { trib } from './trib.js';
import type { Taxation } from './tribMun.js';

/**
 * `valores`: the amount in BRL, also of an export, without discounts (E0427, E0431) or deductions (E0435 to E0454), for which
 * the API has no fields; `vReceb` is the intermediary's (E0424).
 */
export const valores = (amount: Cents, issuer: IssuerFacts, taxation: Taxation): Canonical =>
  element('valores', element('vServPrest', field('vServ', decimalFromCents(amount))), trib(issuer, taxation));
