import { isImportCanceledAtSefin } from '../common/access-key.js';
import type { Decision } from '../common/decision.js';
import type { ErrorCode } from '../common/error-catalogue.js';
import { type Instant, isBefore, isPlausible, lastSecondOfBrasiliaMonth, nextBrasiliaMonth } from '../common/time.js';
import type { CancelReason, InvoiceEvent } from './events.js';
import type { Invoice } from './state.js';
import { isCanceled } from './status.js';

export type CancelRefusal = Extract<
  ErrorCode,
  'nfse.already_canceled' | 'nfse.cancel_in_progress' | 'nfse.not_cancelable' | 'nfse.cancel_window_closed'
>;

/** Used when the caller sends none: the layout demands 15 to 255 characters (docs/national-system.md#cancellation). */
const defaultCancelDescription: Record<CancelReason, string> = {
  issuance_error: 'Cancelamento por erro na emissão da nota.',
  service_not_provided: 'Cancelamento por serviço não prestado.',
  other: 'Cancelamento solicitado pelo prestador do serviço.',
};

/** In test mode a failed cancellation may be requested again (SVC-10.4). Each request adds three events, which every read of the invoice folds. */
export const MAX_CANCEL_REQUESTS = 100;

/** Decides on a cancellation request, with refusals in the order of CANCEL-3. */
export const requestCancellation = (
  invoice: Invoice,
  command: { reason?: CancelReason; description?: string; now: Instant },
): Decision<InvoiceEvent, CancelRefusal> => {
  const refused = cancelRefusal(invoice, command.now);
  if (refused !== undefined) return { refused };
  const reason = command.reason ?? 'other';
  return {
    events: [
      {
        type: 'CancellationRequested',
        data: {
          request: (invoice.cancellation?.request ?? 0) + 1,
          reason,
          description: command.description ?? defaultCancelDescription[reason],
          requestedAt: command.now,
        },
      },
    ],
  };
};

/**
 * Why a cancellation request is refused at `now`; undefined when it is allowed. The first that applies, in the order of CANCEL-3: canceled, in
 * progress, not cancelable for a reason of the API, window closed, not cancelable for a reason of this service.
 */
export const cancelRefusal = (invoice: Invoice, now: Instant): CancelRefusal | undefined => {
  const { cancellation, outcome, origin } = invoice;
  if (isCanceled(invoice)) return 'nfse.already_canceled';
  if (cancellation?.status === 'pending') return 'nfse.cancel_in_progress';
  if (cancellation?.status === 'failed' && invoice.facts.mode === 'live') return 'nfse.cancel_in_progress';
  if (outcome.status !== 'issued' || outcome.accessKey === undefined) return 'nfse.not_cancelable';
  if (origin.kind === 'imported' && (origin.replaced || origin.from === 'manual')) return 'nfse.not_cancelable';
  // The log may hold an instant of a year outside the calendar's range, which has no month.
  if (outcome.issuedAt === undefined || !isPlausible(outcome.issuedAt)) return 'nfse.cancel_window_closed';
  if (!isBefore(now, nextBrasiliaMonth(outcome.issuedAt))) return 'nfse.cancel_window_closed';
  // CANCEL-2 holds for every note of an earlier month, so the reasons that are this service's own come after.
  // A failed cancellation is final in live mode, so what Sefin always refuses is not sent.
  if (origin.kind === 'imported' && !isImportCanceledAtSefin(outcome.accessKey, invoice.facts.companyId))
    return 'nfse.not_cancelable';
  if ((cancellation?.request ?? 0) >= MAX_CANCEL_REQUESTS) return 'nfse.not_cancelable';
  return undefined;
};

/** `cancelable_until`: present exactly when a cancel would be accepted now (INV-cancelable_until). */
export const cancelableUntil = (invoice: Invoice, now: Instant): Instant | undefined =>
  cancelRefusal(invoice, now) === undefined &&
  invoice.outcome.status === 'issued' &&
  invoice.outcome.issuedAt !== undefined
    ? lastSecondOfBrasiliaMonth(invoice.outcome.issuedAt)
    : undefined;
