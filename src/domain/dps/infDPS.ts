import type { InvoiceEventData } from '../invoice/events.js';
import { type Canonical, elementWith, field } from '../shared/canonical-xml.js';
import type { Mode } from '../shared/ids.js';
import { addSeconds, brasiliaMidnight, brasiliaStamp } from '../shared/time.js';
import { type CurrencyCode, comExt } from './comExt.js';
import { CLOCK_SLACK_SECONDS, tpAmb, VER_APLIC } from './layout.js';
import { prest } from './prest.js';
import { serv } from './serv.js';
import { toma } from './toma.js';
import { valores } from './valores.js';

type Accepted = InvoiceEventData<'InvoiceAccepted'>;

export type DpsInput = {
  mode: Mode;
  number: number;
  series: string;
  accepted: Accepted;
  /** Asked for exports only. */
  currencyCode: CurrencyCode;
};

/** `infDPS`, the signed element: what the acceptance recorded, under the DPS' own number (domain.md section 9). */
export const infDPS = (input: DpsInput, id: string): Canonical => {
  const { companyId, issuer, customer, foreignAmount, line, description, competence, amountInCents } = input.accepted;
  const resultCountry = customer?.type === 'foreign' ? customer.address.country : undefined;
  const foreignTrade = foreignAmount === undefined ? undefined : comExt(foreignAmount, input.currencyCode);
  return elementWith(
    'infDPS',
    { Id: id },
    field('tpAmb', tpAmb[input.mode]),
    field('dhEmi', dhEmi(input.accepted)),
    field('verAplic', VER_APLIC),
    field('serie', input.series),
    field('nDPS', String(input.number)),
    field('dCompet', competence),
    field('tpEmit', EMITTED_BY_PROVIDER),
    field('cLocEmi', issuer.municipality),
    prest(companyId, issuer, resultCountry !== undefined),
    toma(customer),
    serv(issuer.municipality, line, description, foreignTrade),
    valores(amountInCents, issuer, resultCountry),
  );
};

const EMITTED_BY_PROVIDER = '1';

/** Behind the authorizer's clock (E0008), but not on the day before the competence (E0015). */
const dhEmi = ({ acceptedAt, competence }: Accepted): string => {
  const stamp = brasiliaStamp(addSeconds(acceptedAt, -CLOCK_SLACK_SECONDS));
  // Days as text compare like days; finding midnight costs twice as much as the stamp and is rarely needed.
  return stamp.slice(0, competence.length) < competence ? brasiliaStamp(brasiliaMidnight(competence)) : stamp;
};
