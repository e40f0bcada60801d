import { type CatalogueEntry, type Cause, errorCatalogue, type Refusal } from '../domain/common/error-catalogue.js';
import { present } from '../domain/common/present.js';
import type { Call } from './call.js';

export type HeaderRecord = Record<string, string>;

/** A JSON answer with the common headers (HDR-Request-Id and the rate headers). */
export const json = (call: Call, status: number, body: unknown, extra?: HeaderRecord): Response => {
  const headers = commonHeaders(call);
  headers['Content-Type'] = 'application/json';
  headers['Cache-Control'] = 'no-store';
  headers['X-Content-Type-Options'] = 'nosniff';
  if (extra !== undefined) Object.assign(headers, extra);
  return new Response(JSON.stringify(body), { status, headers });
};

/** `Request-Id`, and the rate headers when a slot of the key's quota was asked for. */
export const commonHeaders = ({ requestId, rate }: Call): HeaderRecord => {
  const headers: HeaderRecord = { 'Request-Id': requestId };
  if (rate !== undefined) {
    headers['RateLimit-Limit'] = String(rate.limit);
    headers['RateLimit-Remaining'] = String(rate.remaining);
    headers['RateLimit-Reset'] = String(rate.resetSeconds);
  }
  return headers;
};

/** A refusal in the error envelope (docs/contract.md, "Errors"), with the headers of its status. */
export const refuse = (call: Call, refusal: Refusal): Response => {
  const { status } = errorCatalogue[refusal.code];
  call.code = refusal.code;
  const body = envelope(call, refusal);
  if (status === 401 || status === 403) {
    // No other common header (HDR-401-403), so `nosniff` is left out too.
    const headers = { 'Request-Id': call.requestId, 'Content-Type': 'application/json' };
    return new Response(JSON.stringify(body), { status, headers });
  }
  const own: HeaderRecord = {};
  if (refusal.retryAfterSeconds !== undefined) own['Retry-After'] = String(refusal.retryAfterSeconds);
  if (call.hasPages) own.Link = helpLink(refusal.code);
  return json(status === 503 ? withoutRate(call) : call, status, body, own);
};

/** The header `Link` of a refusal (HDR-Link). */
export const helpLink = (code: string): string => `<${pageOf(code)}>; rel="help"`;

/** Path of the page that explains a code. */
export const pageOf = (code: string): string => `/docs/errors/${code}`;

const withoutRate = ({ rate: _rate, ...call }: Call): Call => call;

/** The error envelope (docs/contract.md, "Errors"). A key that gets 401 or 403 does not count as known (ERR-livemode). */
export const envelope = ({ mode, requestId }: Pick<Call, 'mode' | 'requestId'>, refusal: Refusal): object => {
  const entry: CatalogueEntry = errorCatalogue[refusal.code];
  const showMode = mode !== undefined && entry.status !== 401 && entry.status !== 403;
  return {
    error: present({
      type: entry.type,
      code: refusal.code,
      message: refusal.message ?? entry.message,
      param: refusal.param ?? entry.param,
      retryable: refusal.retryable ?? entry.retryable,
      livemode: showMode ? mode === 'live' : undefined,
      provider_code: refusal.providerCode,
      request_id: requestId,
      errors: refusal.causes?.map(causeItem),
    }),
  };
};

/** An item of `errors`. It has only these two fields (ERR-errors): the message names the field. */
const causeItem = ({ message }: Cause): object => ({ code: 'invalid_request', message });
