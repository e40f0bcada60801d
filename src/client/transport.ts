import type { ErrorDetails } from './answers.js';
import { ApiError, NoAnswerError } from './errors.js';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type TransportOptions = {
  /** Origin of the service, without a trailing slash. */
  baseUrl: string;
  /** `svc_sk_test_…` or `svc_sk_live_…`. */
  key: string;
  /** Default: the global `fetch`. */
  fetch?: Fetch;
  /** Tries of one request in all, without those that the rate limit turned away; default 6. */
  tries?: number;
  /** Milliseconds until a try is given up; default 30 s. */
  timeoutMs?: number;
  /** Default: a timer. */
  sleep?(ms: number): Promise<void>;
  /** Milliseconds that only grow; default those of the process. */
  now?(): number;
};

type ApiRequest = {
  method: 'GET' | 'POST';
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** JSON text, so that every repeat sends what the call was given, although the program may change its object meanwhile. */
  body?: string;
  /**
   * Whether the same request may be sent again: a GET, and a POST with its Idempotency-Key. Any other POST is sent once, because its answer may be
   * lost after it has done its work.
   */
  isRepeatable: boolean;
  /** By `now`: a try that lasts longer is given up, and no other follows. Default: never. */
  endsAt?: number;
  /**
   * By `now`: how long a request waits for a place under the rate limit (429). That answer proves that nothing was done, so the request is no try,
   * and may be sent again when it is not repeatable. Default: 80 minutes after the first send.
   */
  queuesUntil?: number | undefined;
};

/**
 * A JSON object of which nothing is known. The fields that are looked at have names, because a program with `noPropertyAccessFromIndexSignature`
 * compiles these sources too.
 */
export type Json = {
  readonly [field in 'object' | 'id' | 'status' | 'data' | 'error' | 'code' | 'retryable']?: unknown;
};

/** An answer with a status below 300. */
type Answer = {
  status: number;
  /** Without parameters, in lower case; empty without the header. */
  mediaType: string;
  bytes: Uint8Array;
  retryAfterMs: number | undefined;
};

type Transport = {
  /**
   * The bytes of an answer of this media type; any other is a proxy's. Rejects with `ApiError` for a refusal, and with `NoAnswerError` without an
   * answer of the API.
   */
  sendFor(mediaType: string, request: ApiRequest): Promise<Uint8Array>;
  /** Rejects alike. `isExpected` tells a body of the API from that of a proxy. */
  sendJson<T>(
    request: ApiRequest,
    isExpected: (body: Json) => boolean,
  ): Promise<{ body: T; retryAfterMs: number | undefined }>;
};

const TRIES = 6;
const TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** The API asks for no more: the rate limit counts 60 seconds (HDR-Retry-After). A proxy may. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const QUEUES_FOR_MS = 80 * 60_000;
/** An Idempotency-Key is forgotten after 24 hours, and a later repeat would issue a second invoice (IDEM-4). */
const KEY_REPEATED_FOR_MS = 23 * 3_600_000;

/** Without white space and slashes at its ends. Throws for what `fetch` would refuse, because no repetition would mend it. */
const addressOf = (given: string): string => {
  const baseUrl = given.trim();
  if (!URL.canParse(baseUrl) || !/^https?:/i.test(baseUrl))
    throw new TypeError('baseUrl must begin with http:// or https://');
  const { username, password, search, hash } = new URL(baseUrl);
  if (username + password + search + hash !== '')
    throw new TypeError('baseUrl must have no user, password, query or fragment');
  return baseUrl.replace(/\/+$/, '');
};

/**
 * Without white space at its ends, as of a file. Throws for what no header can carry, such as the start of a key that ends in `…`: every repetition
 * would fail and look like a lost answer.
 */
const keyOf = (given: string | undefined): string => {
  const key = given?.trim() ?? '';
  if (!/^[!-~]+$/.test(key)) throw new TypeError('key must be a whole API key: visible ASCII characters only');
  return key;
};

/**
 * Throws `TypeError` for a base URL that is no HTTP address, and for what cannot be a key. Repeats wait as long as `Retry-After` asks, up to 60 s,
 * otherwise from 0.5 s, doubled each time, up to 30 s. No repeat with an Idempotency-Key leaves later than 23 hours after the first send.
 */
export const createTransport = (options: TransportOptions): Transport => {
  const { tries = TRIES, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = options;
  const { sleep = pause, now = processTime } = options;
  const baseUrl = addressOf(options.baseUrl);
  const key = keyOf(options.key);

  const tryOnce = async ({ method, path, headers, body, endsAt = NEVER }: ApiRequest): Promise<Tried> => {
    // Whole milliseconds, because Node refuses others.
    const leftMs = Math.max(0, Math.ceil(endsAt - now()));
    const init: RequestInit = {
      method,
      headers: { ...headers, authorization: `Bearer ${key}` },
      // A redirect could carry the key to another server.
      redirect: 'error',
      signal: AbortSignal.timeout(Math.min(timeoutMs, leftMs)),
    };
    if (body !== undefined) init.body = body;
    try {
      const response = await fetch(`${baseUrl}${path}`, init);
      return await triedOf(response);
    } catch (cause) {
      return { kind: 'lost', cause };
    }
  };

  /** Counts the time that the machine sleeps too, in which the clock of the process may stop. */
  const startAge = (): (() => number) => {
    const [sentAt, sentOn] = [now(), Date.now()];
    return () => Math.max(now() - sentAt, Date.now() - sentOn);
  };

  /** Repeats what may be repeated, until an answer, a final refusal, the last try or the end of the time. */
  const sendUntil = async <T>(request: ApiRequest, read: (answer: Answer) => T | undefined): Promise<T> => {
    const { isRepeatable, endsAt = NEVER, queuesUntil = now() + QUEUES_FOR_MS } = request;
    const age = startAge();
    let unsettled: Tried | undefined;
    let tried = 0;
    for (let sent = 1; ; sent += 1) {
      const result = await tryOnce(request);
      const found = result.kind === 'answer' ? read(result.answer) : undefined;
      if (found !== undefined) return found;
      const pauseMs = retryAfterOf(result) ?? pauseAfter(sent);
      const queues = isTurnedAway(result) && now() + pauseMs < queuesUntil;
      if (!queues) tried += 1;
      // Every try was turned away, so the request did nothing, and another try would teach nothing.
      const isOver = isTurnedAway(result) && unsettled === undefined;
      const again = queues || (isRepeatable && tried < tries && !isOver && mayHelp(result));
      const leftMs = endsAt - now();
      if (!again || leftMs <= 0) throw errorOf(result, request, unsettled);
      await sleep(Math.min(pauseMs, leftMs));
      const isTooOld = keyOfRequest(request) !== undefined && age() >= KEY_REPEATED_FOR_MS;
      if (pauseMs >= leftMs || isTooOld) throw errorOf(result, request, unsettled);
      if (mayHaveArrived(result)) unsettled ??= result;
    }
  };

  return {
    sendFor: (mediaType, request) =>
      sendUntil(request, (answer) => (answer.mediaType === mediaType ? answer.bytes : undefined)),
    sendJson: (request, isExpected) =>
      sendUntil(request, ({ bytes, retryAfterMs }) => {
        const body = jsonOf(bytes);
        return isObject(body) && isExpected(body) ? { body: body as never, retryAfterMs } : undefined;
      }),
  };
};

const NEVER = Number.POSITIVE_INFINITY;

/** Milliseconds since some instant; a clock that is set does not change them. */
export const processTime = (): number => performance.now();

/** Resolves after this many milliseconds. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What one try came to. `foreign`: an answer without the envelope, so of a proxy or of a service that broke off. */
type Tried =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'refused'; status: number; details: ErrorDetails; retryAfterMs: number | undefined }
  | { kind: 'foreign'; status: number; retryAfterMs: number | undefined }
  | { kind: 'lost'; cause: unknown };

const triedOf = async (response: Response): Promise<Tried> => {
  const { status, headers } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const retryAfterMs = millisecondsOf(headers.get('retry-after'));
  const mediaType = mediaTypeOf(headers.get('content-type') ?? '');
  if (response.ok) return { kind: 'answer', answer: { status, mediaType, bytes, retryAfterMs } };
  const body = jsonOf(bytes);
  const details = isObject(body) && isObject(body.error) ? body.error : undefined;
  return details !== undefined && typeof details.code === 'string' && typeof details.retryable === 'boolean'
    ? { kind: 'refused', status, details: details as ErrorDetails, retryAfterMs }
    : { kind: 'foreign', status, retryAfterMs };
};

/** An answer that could not be read counts as lost. */
const mayHelp = (tried: Tried): boolean => {
  switch (tried.kind) {
    case 'refused':
      return tried.details.retryable;
    case 'foreign':
      return tried.status >= 500 || tried.status === 429;
    default:
      return true;
  }
};

/** Only the API says so: a proxy may answer 429 after the request went through. */
const isTurnedAway = (tried: Tried): boolean =>
  tried.kind === 'refused' && tried.details.code === 'rate_limit_exceeded';

/** Whether the request may have done its work, or do it yet. A 5xx does not say that nothing was stored. */
const mayHaveArrived = (tried: Tried): boolean =>
  tried.kind !== 'refused' || tried.status >= 500 || tried.details.code === 'idempotency_key_in_use';

const retryAfterOf = (tried: Tried): number | undefined =>
  tried.kind === 'refused' || tried.kind === 'foreign' ? tried.retryAfterMs : undefined;

const keyOfRequest = ({ headers }: ApiRequest): string | undefined => headers?.['idempotency-key'];

/** `unsettled`: the first try before this one that may have arrived. */
const errorOf = (tried: Tried, request: ApiRequest, unsettled?: Tried): Error => {
  const { method, path } = request;
  const idempotencyKey = keyOfRequest(request);
  const what = `${method} ${path}`;
  const notOfTheApi = (status: number): Error =>
    new NoAnswerError(`${what}: ${status} that is not of the API`, { status, idempotencyKey });
  switch (tried.kind) {
    case 'refused': {
      const { status, details } = tried;
      const isOpen = method === 'POST' && (unsettled !== undefined || mayHaveArrived(tried));
      const refusal = new ApiError(status, details, { idempotencyKey, mayHaveArrived: isOpen });
      // Programs take a 4xx for the proof that there is no invoice.
      if (!isOpen || unsettled === undefined || status >= 500) return refusal;
      const message = `${what}: an invoice may exist, from a try before this refusal: ${refusal.message}`;
      return new NoAnswerError(message, { status, idempotencyKey, refusal, cause: errorOf(unsettled, request) });
    }
    case 'foreign':
      return notOfTheApi(tried.status);
    case 'answer':
      return notOfTheApi(tried.answer.status);
    case 'lost':
      return new NoAnswerError(`${what}: no answer`, { idempotencyKey, cause: tried.cause });
  }
};

const pauseAfter = (tried: number): number => Math.min(FIRST_PAUSE_MS * 2 ** (tried - 1), LONGEST_PAUSE_MS);

const mediaTypeOf = (contentType: string): string => contentType.replace(/;.*/s, '').trim().toLowerCase();

/** Of whole seconds; the form with a date is not of this API. */
const millisecondsOf = (retryAfter: string | null): number | undefined =>
  retryAfter !== null && /^[0-9]+$/.test(retryAfter)
    ? Math.min(Number(retryAfter) * 1000, LONGEST_RETRY_AFTER_MS)
    : undefined;

const jsonOf = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
