import { type InvoiceId, publicInvoiceId } from '../shared/ids.js';
import { addSeconds, type Instant, isBefore } from '../shared/time.js';
import { unreachable } from '../shared/unreachable.js';
import type { Customer } from './facts.js';
import { cancellationError, type InvoiceError, invoiceError } from './issue-messages.js';
import { cancelableUntil } from './request-cancellation.js';
import type { Cancellation, Invoice, InvoiceState } from './state.js';

export type InvoiceStatus = 'queued' | 'processing' | 'issued' | 'failed' | 'indeterminate' | 'canceled';

type CustomerBody = {
  document?: string;
  name?: string;
  type: 'br' | 'foreign';
  tax_id?: string;
  tax_id_absence_reason?: 'exempt' | 'not_required';
  address?: Record<'street' | 'number' | 'district' | 'city' | 'state' | 'postal_code' | 'country', string>;
};

type CancellationBody = {
  status: Cancellation['status'];
  requested_at: Instant;
  reason: Cancellation['reason'];
  error?: InvoiceError;
};

/** The invoice as the API shows it, without `links`, which are made fresh at every read (spec "Invoice"). */
export type InvoiceBody = {
  object: 'nfse';
  id: string;
  livemode: boolean;
  status: InvoiceStatus;
  amount_in_cents: number;
  description?: string;
  competence?: string;
  customer?: CustomerBody;
  foreign_amount?: { currency: string; amount_in_cents: number };
  reference?: string;
  service_code?: string;
  cnae?: string;
  access_key?: string;
  failed_attempts: number;
  created_at?: Instant;
  issued_at?: Instant;
  cancelable_until?: Instant;
  cancellation?: CancellationBody;
  failed_at?: Instant;
  error?: InvoiceError;
};

export const invoiceStatus = (invoice: Invoice): InvoiceStatus => {
  switch (invoice.outcome.status) {
    case 'open':
      return invoice.attempts.length === 0 ? 'queued' : 'processing';
    case 'issued':
      return invoice.cancellation?.status === 'succeeded' ? 'canceled' : 'issued';
    case 'failed':
    case 'indeterminate':
      return invoice.outcome.status;
    default:
      return unreachable(invoice.outcome);
  }
};

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

/** The log may hold a year that a date-time of the API has no room for: shown is the instant or nothing. */
const writable = (at: Instant | undefined): Instant | undefined =>
  at !== undefined && /^\d{4}-/.test(at) ? at : undefined;

/** Attempts known not to have produced a document (reading 27). */
export const failedAttempts = (invoice: Invoice): number =>
  invoice.attempts.filter(({ resolution }) => ['not_sent', 'absent', 'rejected'].includes(resolution)).length;

/** PDF, XML and links: issued, and canceled in live mode (spec "GET /v1/nfse/{id}/pdf", reading 23). */
export const isDownloadable = (invoice: Invoice): boolean => {
  const status = invoiceStatus(invoice);
  return status === 'issued' || (status === 'canceled' && invoice.facts.mode === 'live');
};

export type Visible = { kind: 'absent' } | { kind: 'moved'; to: InvoiceId } | { kind: 'invoice'; invoice: Invoice };

/** When the life of a test invoice is over; undefined for a live one, which is kept. */
export const lifeEnds = ({ facts, origin }: Invoice, testRetentionSeconds: number): Instant | undefined => {
  const born = facts.createdAt ?? (origin.kind === 'imported' ? origin.importedAt : undefined);
  return facts.mode === 'live' || born === undefined ? undefined : addSeconds(born, testRetentionSeconds);
};

/** A test invoice is gone for readers when its life is over, also before the sweep has deleted it. */
export const visible = (state: InvoiceState, now: Instant, testRetentionSeconds: number): Visible => {
  switch (state.kind) {
    case 'none':
    case 'deleted':
      return { kind: 'absent' };
    case 'reference_taken':
      return { kind: 'moved', to: state.invoiceId };
    case 'invoice': {
      const ends = lifeEnds(state, testRetentionSeconds);
      const over = ends !== undefined && !isBefore(now, ends);
      return over ? { kind: 'absent' } : { kind: 'invoice', invoice: state };
    }
    default:
      return unreachable(state);
  }
};

const customerBody = (customer: Customer): CustomerBody => {
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

const cancellationBody = (cancellation: Cancellation, invoice: Invoice): CancellationBody => ({
  status: cancellation.status,
  requested_at: cancellation.requestedAt,
  reason: cancellation.reason,
  ...(cancellation.status === 'failed' ? { error: cancellationError(cancellation.codes, invoice.facts.mode) } : {}),
});

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Absent, never null and never undefined (spec "Resources and their fields"). */
const present = <T extends object>(fields: T): Present<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
