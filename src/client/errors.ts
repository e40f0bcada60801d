import type { ErrorDetails, Invoice } from './answers.js';

export type { ErrorDetails } from './answers.js';

/** What a POST leaves open beside its answer. */
type PostFacts = { idempotencyKey?: string | undefined; mayHaveArrived?: boolean };

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
  /** Of an issue request, also when the client made the key. */
  readonly idempotencyKey: string | undefined;
  /**
   * Of a POST: whether it may have done its work, because a try had no answer or a 5xx, or because a request with this key is in progress. Then only
   * a repeat with the same `idempotencyKey` is safe, and for a cancel the invoice tells.
   */
  readonly mayHaveArrived: boolean;

  constructor(status: number, details: ErrorDetails, { idempotencyKey, mayHaveArrived = false }: PostFacts = {}) {
    super(`${details.code}: ${details.message}`);
    this.code = details.code;
    this.status = status;
    this.retryable = details.retryable;
    this.requestId = details.request_id;
    this.details = details;
    this.idempotencyKey = idempotencyKey;
    this.mayHaveArrived = mayHaveArrived;
  }
}

type NoAnswerFacts = {
  status?: number | undefined;
  idempotencyKey?: string | undefined;
  refusal?: ApiError;
  cause?: unknown;
};

/**
 * No answer of the API came, also after all repeats for which there was time: a broken connection, a time-out, or an answer of a proxy. For an issue
 * request an invoice may exist; the same request with the same `idempotencyKey` is safe for 24 hours.
 *
 * Also when the API refused a repeat of an issue request: the refusal says nothing of the try before, which may have made the invoice.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  /** Of the last answer that came; undefined when none came. */
  readonly status: number | undefined;
  /** Of an issue request. */
  readonly idempotencyKey: string | undefined;
  /** The answer to a repeat, when it was below 500; then `cause` is why the first try that may have arrived had no outcome. */
  readonly refusal: ApiError | undefined;

  constructor(message: string, { status, idempotencyKey, refusal, cause }: NoAnswerFacts) {
    super(message, { cause });
    this.status = status;
    this.idempotencyKey = idempotencyKey;
    this.refusal = refusal;
  }
}

/**
 * The time to wait is over, or the API refuses to show the invoice, and no outcome was seen. The invoice exists: read it again later, and do not issue
 * another.
 */
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
