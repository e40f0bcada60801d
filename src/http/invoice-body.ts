import { publicInvoiceId } from '../domain/common/ids.js';
import { present } from '../domain/common/present.js';
import type { Instant } from '../domain/common/time.js';
import type { Customer } from '../domain/invoice/events.js';
import { cancelableUntil } from '../domain/invoice/request-cancellation.js';
import type { Cancellation, Invoice } from '../domain/invoice/state.js';
import { codesOfFailedCancellation, failedAttempts, invoiceStatus, isDownloadable } from '../domain/invoice/status.js';
import { type Caller, mayRead } from './access/authentication.js';
import { json } from './answer.js';
import type { Call } from './call.js';
import type { HttpDeps } from './deps.js';
import { cancellationError, invoiceError } from './invoice-error.js';
import type { InvoiceBody } from './openapi/schemas.js';

type Deps = Pick<HttpDeps, 'clock' | 'downloadTokens' | 'baseUrl'>;

/** The invoice as the API shows it, with fresh links when this caller may download its documents (LINK-pdf, LINK-xml). */
export const invoiceBody = (invoice: Invoice, caller: Caller, deps: Deps): InvoiceBody => {
  const now = deps.clock.now();
  const body = invoiceView(invoice, now);
  if (isDownloadable(invoice) && mayRead(caller)) {
    const token = encodeURIComponent(deps.downloadTokens.issue(invoice.facts, now));
    body.links = linksOf(body.id, deps.baseUrl, `?t=${token}`);
  }
  return body;
};

const linksOf = (id: string, baseUrl: string, query: string): InvoiceBody['links'] => {
  const base = `${baseUrl}/v1/nfse/${id}`;
  return { pdf: `${base}/pdf${query}`, xml: `${base}/xml${query}` };
};

/** Seconds between two polls of a client (HDR-Retry-After). */
const POLL_SECONDS = '3';

/** The answer 202 to an issue request, its replay, and a cancel request (IDEM-1, HDR-Retry-After, HDR-Location). */
export const accepted = (call: Call, invoice: Invoice, caller: Caller, deps: Deps): Response => {
  const { invoiceId } = invoice.facts;
  call.invoiceId = invoiceId;
  const headers = { Location: `/v1/nfse/${publicInvoiceId(invoiceId)}`, 'Retry-After': POLL_SECONDS };
  return json(call, 202, invoiceBody(invoice, caller, deps), headers);
};

/** The invoice as a key that may read it saw it at that instant. Its links have no token, because each read makes a new one. */
export const replayedBody = (invoice: Invoice, at: Instant, baseUrl: string): InvoiceBody => {
  const body = invoiceView(invoice, at);
  if (isDownloadable(invoice)) body.links = linksOf(body.id, baseUrl, '');
  return body;
};

/** Without `links`, which each read makes. Fields that do not apply are left out: the API never shows null (ID-3). */
export const invoiceView = (invoice: Invoice, now: Instant): InvoiceBody => {
  const { facts, outcome, cancellation } = invoice;
  const issued = outcome.status === 'issued' ? outcome : undefined;
  const ended = outcome.status === 'failed' || outcome.status === 'indeterminate' ? outcome : undefined;
  return present({
    object: 'nfse' as const,
    id: publicInvoiceId(facts.invoiceId),
    livemode: facts.mode === 'live',
    status: invoiceStatus(invoice),
    amount_in_cents: facts.amountInCents,
    description: facts.description,
    competence: facts.competence,
    customer: facts.customer === undefined ? undefined : customerBody(facts.customer),
    foreign_amount:
      facts.foreignAmount === undefined
        ? undefined
        : { currency: facts.foreignAmount.currency, amount_in_cents: facts.foreignAmount.amountInCents },
    reference: facts.reference,
    service_code: facts.serviceCode,
    cnae: facts.cnae,
    access_key: issued?.accessKey,
    failed_attempts: failedAttempts(invoice),
    created_at: facts.createdAt,
    issued_at: writable(issued?.issuedAt),
    cancelable_until: cancelableUntil(invoice, now),
    cancellation: cancellation === undefined ? undefined : cancellationBody(cancellation, invoice),
    failed_at: ended?.failedAt,
    error: invoiceError(invoice),
  });
};

/** The instant, or undefined for a year that a date-time of the API cannot hold. */
const writable = (at: Instant | undefined): Instant | undefined =>
  at !== undefined && /^\d{4}-/.test(at) ? at : undefined;

const customerBody = (customer: Customer): NonNullable<InvoiceBody['customer']> => {
  if (customer.type === 'br') return present({ document: customer.document, name: customer.name, type: customer.type });
  const { street, number, district, city, state, postalCode, country } = customer.address;
  return present({
    name: customer.name,
    type: customer.type,
    tax_id: customer.taxId,
    tax_id_absence_reason: customer.taxIdAbsenceReason,
    address: { street, number, district, city, state, postal_code: postalCode, country },
  });
};

const cancellationBody = (cancellation: Cancellation, invoice: Invoice): NonNullable<InvoiceBody['cancellation']> => ({
  status: cancellation.status,
  requested_at: cancellation.requestedAt,
  reason: cancellation.reason,
  ...(cancellation.status === 'failed'
    ? { error: cancellationError(codesOfFailedCancellation(cancellation), invoice.facts.mode) }
    : {}),
});
