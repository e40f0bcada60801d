import { SUBSTITUTION_EVENT } from '../common/access-key.js';
import type { InvoiceId } from '../common/ids.js';
import { addSeconds, type Instant, isBefore } from '../common/time.js';
import { unreachable } from '../common/unreachable.js';
import { type Cancellation, cameToNothing, type Invoice, type InvoiceState, type IssueAttempt } from './state.js';

export const invoiceStatuses = ['queued', 'processing', 'issued', 'failed', 'indeterminate', 'canceled'] as const;

export type InvoiceStatus = (typeof invoiceStatuses)[number];

export const isInvoiceStatus = (text: string): text is InvoiceStatus =>
  (invoiceStatuses as readonly string[]).includes(text);

export const invoiceStatus = (invoice: Invoice): InvoiceStatus => {
  switch (invoice.outcome.status) {
    case 'open':
      return invoice.attempts.length === 0 ? 'queued' : 'processing';
    case 'issued':
      return isCanceled(invoice) ? 'canceled' : 'issued';
    case 'failed':
    case 'indeterminate':
      return invoice.outcome.status;
    default:
      return unreachable(invoice.outcome);
  }
};

/** Canceled by our own cancellation, by an event of another party, or before it was imported. */
export const isCanceled = ({ cancellation, canceledElsewhere, origin }: Invoice): boolean =>
  cancellation?.status === 'succeeded' ||
  canceledElsewhere !== undefined ||
  (origin.kind === 'imported' && origin.canceled !== undefined);

/**
 * The authorizer's codes that explain a failed cancellation: of its refusal, otherwise of the last answer that left the outcome unknown. The event of
 * a time-out has no codes, because it is no refusal.
 */
export const codesOfFailedCancellation = ({ codes, sends }: Cancellation): readonly string[] => {
  const last = sends.at(-1);
  return codes.length > 0 || last?.resolution !== 'unknown' ? codes : last.codes;
};

/** Whether another note replaces this one, so that its PDF says SUBSTITUÍDA (PDF-3). */
export const isReplaced = ({ origin, canceledElsewhere }: Invoice): boolean =>
  (origin.kind === 'imported' && origin.replaced) || canceledElsewhere?.eventType === SUBSTITUTION_EVENT;

/** Whether no further event of another party changes the invoice. An imported invoice that was replaced keeps its state (CANCEL-3). */
export const isCanceledOrReplaced = (invoice: Invoice): boolean => isCanceled(invoice) || isReplaced(invoice);

/** When the note was canceled, by whomever; undefined while it is valid, and where an import did not know it. */
export const canceledAt = ({ cancellation, canceledElsewhere, origin }: Invoice): Instant | undefined =>
  cancellation?.canceledAt ??
  canceledElsewhere?.canceledAt ??
  (origin.kind === 'imported' ? origin.canceled?.at : undefined);

/** Number of attempts known not to have produced a note (INV-failed_attempts); of a failed invoice none has. */
export const failedAttempts = ({ attempts, outcome }: Invoice): number =>
  outcome.status === 'failed' ? attempts.length : attempts.filter(producedNothing).length;

const producedNothing = (attempt: IssueAttempt): boolean =>
  cameToNothing(attempt) || attempt.resolution === 'absent' || attempt.resolution === 'rejected';

/** Whether PDF, XML and their links exist: for an issued invoice, and for a canceled one in live mode (PDF-3, INV-links). */
export const isDownloadable = (invoice: Invoice): boolean => {
  const status = invoiceStatus(invoice);
  return status === 'issued' || (status === 'canceled' && invoice.facts.mode === 'live');
};

export type Visible = { kind: 'absent' } | { kind: 'moved'; to: InvoiceId } | { kind: 'invoice'; invoice: Invoice };

/** When the retention of a test invoice ends; undefined for a live invoice, which is kept. */
export const retentionEnds = ({ facts, origin }: Invoice, testRetentionSeconds: number): Instant | undefined => {
  const born = facts.createdAt ?? (origin.kind === 'imported' ? origin.importedAt : undefined);
  return facts.mode === 'live' || born === undefined ? undefined : addSeconds(born, testRetentionSeconds);
};

/** What readers see. A test invoice whose retention has ended is absent, also before a sweep deletes it. */
export const visible = (state: InvoiceState, now: Instant, testRetentionSeconds: number): Visible => {
  switch (state.kind) {
    case 'none':
    case 'deleted':
      return { kind: 'absent' };
    case 'reference_taken':
      return { kind: 'moved', to: state.invoiceId };
    case 'invoice': {
      const ends = retentionEnds(state, testRetentionSeconds);
      const over = ends !== undefined && !isBefore(now, ends);
      return over ? { kind: 'absent' } : { kind: 'invoice', invoice: state };
    }
    default:
      return unreachable(state);
  }
};
