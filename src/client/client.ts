import type * as v from 'valibot';
import type { CancelBody } from '../http/body/cancel-schema.js';
import type { IssueBody } from '../http/body/issue-schema.js';
import type { activityListResponse, invoiceListResponse } from '../http/openapi/schemas.js';
import type { Invoice } from './answers.js';
import { ApiError, NoAnswerError, StillWaitingError } from './errors.js';
import { createTransport, type Json, pause, processTime, type TransportOptions } from './transport.js';

export type { Invoice } from './answers.js';

export type IssueRequest = IssueBody;
export type CancelRequest = CancelBody;
type ActivityList = v.InferOutput<typeof activityListResponse>;
export type Activity = ActivityList['data'][number];

export type ClientOptions = TransportOptions & {
  /** Makes the Idempotency-Key of an issue request that brings none; default a random UUID. */
  newKey?(): string;
};

/**
 * `withinMs`: milliseconds from the call on, default 140 minutes. They end reads, pauses and the wait for a place under the rate limit, never a request
 * to issue or to cancel that may have arrived, whose outcome must be known. Time ends an invoice at most 135 minutes after the 202, and a cancellation
 * two hours after its request.
 */
type WaitOptions = { withinMs?: number };

/** `endsAt` is an instant of the client's `now`, `known` the invoice as a POST answered it. */
type Wait = { id: string; done(invoice: Invoice): boolean; pollMs: number; endsAt: number; known?: Invoice };

/**
 * `idempotencyKey`: store it before the call, and a repeat after a crash of your program gives the same invoice. Without one a random key protects the
 * repeats of this call only.
 */
type IssueOptions = { idempotencyKey?: string };

export type Client = {
  /** The invoice as accepted (202), which is not authorized yet. Every repeat carries the same Idempotency-Key. */
  issue(request: IssueRequest, options?: IssueOptions): Promise<Invoice>;
  issueAndWait(request: IssueRequest, options?: IssueOptions & WaitOptions): Promise<Invoice>;
  get(id: string): Promise<Invoice>;
  findByReference(reference: string): Promise<Invoice | undefined>;
  /** Resolves with any outcome; rejects with `StillWaitingError` when the time is over. */
  waitForOutcome(id: string, options?: WaitOptions): Promise<Invoice>;
  /**
   * Sent once, because a cancel has no Idempotency-Key, and again only when the rate limit turned it away: nothing was done then. When the answer is
   * lost or a 5xx, the invoice tells whether the request arrived. A test invoice whose cancellation is then `failed` does not tell it, and the call
   * rejects with that first error: cancel it again. It rejects with that error also when the invoice cannot be read; `cause` is then why.
   */
  cancel(id: string, request?: CancelRequest): Promise<Invoice>;
  /** Resolves when the cancellation is `succeeded` or `failed`. */
  cancelAndWait(id: string, request?: CancelRequest, options?: WaitOptions): Promise<Invoice>;
  /** The document as the API serves it: a page that a proxy answers in its place is no answer. */
  download(id: string, format: 'pdf' | 'xml'): Promise<Uint8Array>;
  activities(): Promise<readonly Activity[]>;
};

/** Whether another invoice of the same sale is safe: never for `indeterminate` and for a status that this client does not know. */
export const mayIssueAgain = ({ status }: Pick<Invoice, 'status'>): boolean => status === 'failed';

const POLL_MS = 3_000;
const OUTCOME_WITHIN_MS = 140 * 60_000;

/** A client of the API over `fetch`. Refusals reject with `ApiError`. */
export const createClient = (options: ClientOptions): Client => {
  const { sendFor, sendJson } = createTransport(options);
  const { sleep = pause, now = processTime } = options;
  const newKey = options.newKey ?? (() => crypto.randomUUID());

  const read = async (id: string, endsAt: number): Promise<Invoice> => {
    const path = `/v1/nfse/${encodeURIComponent(id)}`;
    return (await sendJson<Invoice>({ method: 'GET', path, isRepeatable: true, endsAt }, isInvoice)).body;
  };
  const get = (id: string): Promise<Invoice> => read(id, Number.POSITIVE_INFINITY);

  const post = async (request: IssueRequest, idempotencyKey: string, queuesUntil?: number) => {
    // A program in JavaScript may pass null, which a pattern reads as text.
    if (typeof idempotencyKey !== 'string' || !KEY.test(idempotencyKey))
      throw new RangeError('an Idempotency-Key has 1 to 255 visible ASCII characters');
    const headers = { ...JSON_TYPE, 'idempotency-key': idempotencyKey };
    const sent = {
      method: 'POST',
      path: '/v1/nfse',
      headers,
      body: JSON.stringify(request),
      isRepeatable: true,
      queuesUntil,
    } as const;
    return await sendJson<Invoice>(sent, isInvoice);
  };

  /**
   * Reads until the invoice is `done`, a read is refused for good or no other read has time, and once in any case when nothing is known. A read that
   * fails for now does not end it.
   */
  const readUntil = async ({ id, done, pollMs, endsAt, known }: Wait): Promise<Invoice> => {
    let seen = known;
    let failure: Error | undefined;
    const waitedInVain = (): Error | undefined => (seen === undefined ? failure : new StillWaitingError(seen, failure));
    for (;;) {
      const isOver = now() >= endsAt;
      const error = isOver ? waitedInVain() : undefined;
      if (error !== undefined) throw error;
      const found = await (isOver ? get(id) : read(id, endsAt)).catch(failureOf);
      failure = found instanceof Error ? found : undefined;
      if (!(found instanceof Error)) {
        if (done(found)) return found;
        seen = found;
      }
      if (isFinal(failure) || now() + pollMs >= endsAt) throw waitedInVain();
      await sleep(pollMs);
    }
  };

  const cancelPath = (id: string): string => `/v1/nfse/${encodeURIComponent(id)}/cancel`;
  const cancelBy = async (id: string, body: CancelRequest = {}, queuesUntil?: number): Promise<Invoice> => {
    try {
      const sent = {
        method: 'POST',
        path: cancelPath(id),
        headers: JSON_TYPE,
        body: JSON.stringify(body),
        isRepeatable: false,
      } as const;
      return (await sendJson<Invoice>({ ...sent, queuesUntil }, isInvoice)).body;
    } catch (error) {
      if (!mayHaveArrived(error)) throw error;
      const invoice = await get(id).catch((cause: unknown) => {
        throw Object.assign(error, { cause });
      });
      if (wasAskedToCancel(invoice)) return invoice;
      throw error;
    }
  };

  return {
    get,
    cancel: (id, request) => cancelBy(id, request),
    issue: async (request, { idempotencyKey = newKey() } = {}) => (await post(request, idempotencyKey)).body,
    issueAndWait: async (request, { idempotencyKey = newKey(), withinMs = OUTCOME_WITHIN_MS } = {}) => {
      const endsAt = now() + withinMs;
      const { body: known, retryAfterMs: pollMs = POLL_MS } = await post(request, idempotencyKey, endsAt);
      return hasOutcome(known) ? known : await readUntil({ id: known.id, done: hasOutcome, pollMs, endsAt, known });
    },
    findByReference: async (reference) => {
      const path = `/v1/nfse?reference=${encodeURIComponent(reference)}`;
      type List = v.InferOutput<typeof invoiceListResponse>;
      return (await sendJson<List>({ method: 'GET', path, isRepeatable: true }, isList)).body.data[0];
    },
    waitForOutcome: (id, { withinMs = OUTCOME_WITHIN_MS } = {}) =>
      readUntil({ id, done: hasOutcome, pollMs: POLL_MS, endsAt: now() + withinMs }),
    cancelAndWait: async (id, request, { withinMs = OUTCOME_WITHIN_MS } = {}) => {
      const endsAt = now() + withinMs;
      const known = await cancelBy(id, request, endsAt);
      return isSettled(known) ? known : await readUntil({ id, done: isSettled, pollMs: POLL_MS, endsAt, known });
    },
    download: async (id, format) => {
      const path = `/v1/nfse/${encodeURIComponent(id)}/${format}`;
      return await sendFor(DOCUMENT_TYPES[format], { method: 'GET', path, isRepeatable: true });
    },
    activities: async () =>
      (await sendJson<ActivityList>({ method: 'GET', path: '/v1/activities', isRepeatable: true }, isList)).body.data,
  };
};

/** Visible ASCII characters (POST-Idempotency-Key). */
const KEY = /^[!-~]{1,255}$/;

const isInvoice = ({ object, id, status }: Json): boolean =>
  object === 'nfse' && typeof id === 'string' && typeof status === 'string';

const isList = ({ object, data }: Json): boolean => object === 'list' && Array.isArray(data);

const mayHaveArrived = (error: unknown): error is Error =>
  error instanceof NoAnswerError || (error instanceof ApiError && error.mayHaveArrived);

const failureOf = (error: unknown): Error => {
  if (error instanceof NoAnswerError || error instanceof ApiError) return error;
  throw error;
};

const isFinal = (failure: Error | undefined): boolean => failure instanceof ApiError && !failure.retryable;

const DOCUMENT_TYPES = { pdf: 'application/pdf', xml: 'application/xml' } as const;

const JSON_TYPE = { 'content-type': 'application/json' };

/** A status that this client does not know is an outcome, to be treated as `indeterminate` (VER-4). */
const hasOutcome = ({ status }: Invoice): boolean => status !== 'queued' && status !== 'processing';

/**
 * Whether the invoice shows that a cancel request arrived. A failed one tells it in live mode only, where no other can follow (CANCEL-3): that of a
 * test invoice may be of an earlier call, and a new request is safe.
 */
const wasAskedToCancel = ({ status, livemode, cancellation }: Invoice): boolean =>
  status === 'canceled' || cancellation?.status === 'pending' || (livemode && cancellation?.status === 'failed');

const isSettled = ({ cancellation }: Invoice): boolean => cancellation?.status !== 'pending';
