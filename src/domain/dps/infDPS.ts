import type { InvoiceEventData } from '../invoice/events.js';
import { type Canonical, elementWith, field } from '../shared/canonical-xml.js';
import type { Mode } from '../shared/ids.js';
import type { CurrencyCode } from './comExt.js';
import { dhEmi } from './dhEmi.js';
import { ibscbs } from './IBSCBS.js';
import { tpAmb, VER_APLIC } from './layout.js';
import { prest } from './prest.js';
import { serv } from './serv.js';
import { toma } from './toma.js';
import { taxationOf } from './tribMun.js';
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

/**
 * `infDPS`, the signed element: what the acceptance recorded, under the DPS' own number (domain.md section 9). Its Id is made
 * of its fields (E0004); environment (E0006), series (E0010), emission and competence (E0008, E0015), emitter (E9996, E0029)
 * and municipality (E0037 to E0041) stand before the groups. Without `subst`: the API does not replace notes.
 */
export const infDPS = (input: DpsInput, id: string): Canonical => {
  const { companyId, issuer, customer, foreignAmount, line, description, competence, amountInCents } = input.accepted;
  const taxation = taxationOf(customer, line);
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
    prest(companyId, issuer, taxation.kind === 'due'),
    toma(customer),
    serv(issuer.municipality, line, description, foreignAmount, input.currencyCode),
    valores(amountInCents, issuer, taxation),
    ibscbs(input.accepted),
  );
};

const EMITTED_BY_PROVIDER = '1';
