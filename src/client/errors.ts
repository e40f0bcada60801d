import type { ErrorDetails, Invoice } from './answers.js';

export type { ErrorDetails } from './answers.js';

/** The API refused the request. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  /** HTTP status. */
  readonly status: number;
  readonly retryable: boolean;
  /** Support needs this id. */
  readonly requestId: string;
  readonly details: ErrorDetails;

  constructor(status: number, details: ErrorDetails) {
    super(`${details.code}: ${details.message}`);
    this.code = details.code;
    this.status = status;
    this.retryable = details.retryable;
    this.requestId = details.request_id;
    this.details = details;
  }
}

/**
 * No answer of the API came, also after all repeats for which there was time: a broken connection, a time-out, or an answer of a proxy. For an issue
 * request an invoice may exist; the same request with the same `idempotencyKey` is safe for 24 hours.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  /** Of the last answer that came; undefined when none came. */
  readonly status: number | undefined;
  /** Of an issue request. */
  readonly idempotencyKey: string | undefined;

  constructor(
    message: string,
    facts: { status?: number | undefined; idempotencyKey?: string | undefined; cause?: unknown },
  ) {
    super(message, { cause: facts.cause });
    this.status = facts.status;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** The time to wait is over and the invoice has no outcome yet. The invoice exists: read it again later, and do not issue another. */
export class StillWaitingError extends Error {
  override readonly name = 'StillWaitingError';
  /** As it was read last. */
  readonly invoice: Invoice;

  /** `cause`: why the last read failed, when it did. */
  constructor(invoice: Invoice, cause?: Error) {
    super(`${invoice.id} has no outcome yet`, cause === undefined ? undefined : { cause });
    this.invoice = invoice;
  }
}

/** Whether the API refused with this code (CODE-). */
export const isRefusal = (error: unknown, code: string): error is ApiError =>
  error instanceof ApiError && error.code === code;
