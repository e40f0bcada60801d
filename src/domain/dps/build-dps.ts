import { dpsId } from '../common/access-key.js';
import { type Canonical, elementWith, field } from '../common/canonical-xml.js';
import type { Mode } from '../common/ids.js';
import type { InvoiceEventData } from '../invoice/events.js';
import { toma } from './customer.js';
import { dhEmi } from './emission-time.js';
import { ibscbs } from './ibs-cbs.js';
import { layoutOf, NFSE_NAMESPACE, tpAmb, VER_APLIC } from './layout.js';
import { prest } from './provider.js';
import { type CurrencyCode, serv } from './service.js';
import { taxationOf, valores } from './values.js';

/**
 * The unsigned DPS in canonical form, in the layout of its `dhEmi`, and its id. Pure: the same acceptance and number always give the same bytes
 * (ADR 2). Throws `CustomerNameMissing` for an identified customer without a name.
 */
export const buildDps = (input: DpsInput): { id: string; xml: string } => {
  const { issuer, companyId } = input.accepted;
  const { series, number } = input;
  const id = dpsId({ municipality: issuer.municipality, cnpj: companyId, series, number });
  const { version } = layoutOf(input.mode, dhEmi(input.accepted));
  return { id, xml: elementWith('DPS', { xmlns: NFSE_NAMESPACE, versao: version }, infDPS(input, id)) };
};

type Accepted = InvoiceEventData<'InvoiceAccepted'>;

type DpsInput = {
  mode: Mode;
  number: number;
  series: string;
  accepted: Accepted;
  /** Called for exports only. */
  currencyCode: CurrencyCode;
};

/**
 * `infDPS`, the signed element: what the acceptance recorded, under a DPS number (docs/national-system.md#dps). Its id is made of its fields
 * (E0004). Environment (E0006), series (E0010), emission and competence (E0008, E0015), emitter (E9996, E0029) and municipality (E0037 to
 * E0041) precede the groups. `subst` is left out: the API does not replace notes.
 */
const infDPS = (input: DpsInput, id: string): Canonical => {
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
