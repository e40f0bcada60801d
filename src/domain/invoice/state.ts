import type { InvoiceId } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';
import type { CancelReason, InvoiceEventData } from './events.js';

/**
 * What is known of one send. `open`: no answer was recorded (its process may have died). `absent`: proven, by two
 * look-ups. `foreign`: another note stands under our DPS id.
 */
export type Resolution = 'open' | 'not_sent' | 'unknown' | 'absent' | 'rejected' | 'authorized' | 'foreign';

export type Send = {
  attempt: number;
  /** Left out when its key is gone; see `compareSent`. */
  digest?: string;
  signatureMark?: string;
  attemptedAt: Instant;
  deadlineAt: Instant;
  resolution: Resolution;
  /** First answer to the send itself; a look-up is no answer. */
  answeredAt?: Instant;
  /** When `resolution` was last set. */
  resolvedAt?: Instant;
  codes: readonly string[];
};

export type IssueAttempt = Send & { series: string; number: number; dpsId: string; foreignSameContent?: boolean };

export type Outcome =
  | { status: 'open' }
  | { status: 'issued'; accessKey?: string; nfseNumber?: string; issuedAt?: Instant }
  | {
      status: 'failed';
      code: 'issue_failed' | 'nfse.not_processed';
      failedAt: Instant;
      /** The authorizer's, when it refused. */
      codes: readonly string[];
      reason?: 'customer_name_missing';
    }
  | { status: 'indeterminate'; failedAt: Instant };

export type Cancellation = {
  request: number;
  status: 'pending' | 'succeeded' | 'failed';
  reason: CancelReason;
  requestedAt: Instant;
  sends: readonly (Send & { requestId: string })[];
  canceledAt?: Instant;
  /** Codes of the refusal that ended it. */
  codes: readonly string[];
};

/** Who made the invoice: this API, or elsewhere (imported, with the origin's special rules). */
export type Origin =
  | { kind: 'api' }
  | {
      kind: 'imported';
      from: 'legacy' | 'web' | 'manual';
      replaced: boolean;
      /** Of a test invoice that came without `createdAt`: its life is counted from here. */
      importedAt?: Instant;
    };

/** The facts fixed at acceptance or import; personal ones (customer, description) may still be sealed. */
export type InvoiceFacts = Pick<
  InvoiceEventData<'InvoiceAccepted'>,
  'mode' | 'companyId' | 'invoiceId' | 'amountInCents' | 'customer' | 'foreignAmount' | 'reference'
> & {
  description?: string;
  competence?: string;
  cnae?: string;
  serviceCode?: string;
  createdAt?: Instant;
  idempotency?: InvoiceEventData<'InvoiceAccepted'>['idempotency'];
};

export type Invoice = {
  kind: 'invoice';
  facts: InvoiceFacts;
  origin: Origin;
  attempts: readonly IssueAttempt[];
  outcome: Outcome;
  cancellation?: Cancellation;
};

export type InvoiceState =
  | { kind: 'none' }
  /** The derived stream of a reference that an import with an id of its own holds. */
  | { kind: 'reference_taken'; invoiceId: InvoiceId }
  | { kind: 'deleted' }
  | Invoice;

export const initialInvoice: InvoiceState = { kind: 'none' };

export const lastOf = <T>(items: readonly T[]): T | undefined => items[items.length - 1];

/** A signal is a recorded send or the first answer to it; a look-up that proves nothing is none (reading 58). */
export const lastSignal = (sends: readonly Send[]): Instant | undefined => {
  const last = lastOf(sends);
  return last === undefined ? undefined : (last.answeredAt ?? last.attemptedAt);
};

export const allNotSent = (sends: readonly Send[]): boolean => sends.every((send) => send.resolution === 'not_sent');

/** Sends whose bytes left, or may have. */
export const sentCount = (sends: readonly Send[]): number =>
  sends.filter((send) => send.resolution !== 'not_sent').length;
