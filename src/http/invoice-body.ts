import type { Invoice } from '../domain/invoice/state.js';
import { type InvoiceBody, invoiceView, isDownloadable } from '../domain/invoice/view.js';
import { publicInvoiceId } from '../domain/shared/ids.js';
import { type Caller, mayRead } from './access/gate.js';
import { json } from './answer.js';
import type { Call } from './call.js';
import type { HttpDeps } from './deps.js';

export type LinkedInvoiceBody = InvoiceBody & { links?: { pdf: string; xml: string } };

type Deps = Pick<HttpDeps, 'clock' | 'downloadTokens' | 'baseUrl'>;

/** The invoice as the API shows it, with fresh links while there is something that this caller may download. */
export const invoiceBody = (invoice: Invoice, caller: Caller, deps: Deps): LinkedInvoiceBody => {
  const now = deps.clock.now();
  const body: LinkedInvoiceBody = invoiceView(invoice, now);
  if (isDownloadable(invoice) && mayRead(caller)) {
    const token = encodeURIComponent(deps.downloadTokens.issue(invoice.facts, now));
    const base = `${deps.baseUrl}/v1/nfse/${body.id}`;
    body.links = { pdf: `${base}/pdf?t=${token}`, xml: `${base}/xml?t=${token}` };
  }
  return body;
};

/** What a client waits between two polls (reading 24). */
const POLL_SECONDS = '3';

/** 202 of issue, replay and cancel (readings 14, 24 and 36). */
export const accepted = (call: Call, invoice: Invoice, caller: Caller, deps: Deps): Response => {
  const { invoiceId } = invoice.facts;
  call.invoiceId = invoiceId;
  const headers = { Location: `/v1/nfse/${publicInvoiceId(invoiceId)}`, 'Retry-After': POLL_SECONDS };
  return json(call, 202, invoiceBody(invoice, caller, deps), headers);
};
