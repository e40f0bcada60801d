import type { Refusal } from '../domain/common/error-catalogue.js';
import { unreachable } from '../domain/common/unreachable.js';
import { IssuingPaused } from '../ports/event-log.js';
import type { ApiState, HttpDeps } from './deps.js';

/** Long enough for an engine to come back, short enough not to hold up a client's work. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

export const switchedOff: Refusal = {
  code: 'service_unavailable',
  message:
    'O serviço está suspenso no momento. Repita a mesma requisição mais tarde, na emissão com a mesma Idempotency-Key.',
  retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
};

const unavailable: Refusal = { code: 'service_unavailable', retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS };

/** The refusal of every request in this state; undefined while the API is open. */
export const refusalIn = (state: ApiState): Refusal | undefined => {
  switch (state) {
    case 'open':
      return undefined;
    case 'suspended':
      return switchedOff;
    case 'unready':
      return unavailable;
    default:
      return unreachable(state);
  }
};

/** The only place where an exception becomes an answer. No part of the exception reaches the client (CODE-service_unavailable). */
export const faultRefusal = (
  error: unknown,
  requestId: string,
  deps: Pick<HttpDeps, 'isUnavailable' | 'onFault'>,
): Refusal => {
  // This process has not seen the pause yet, and refuses as it will when it has.
  if (error instanceof IssuingPaused) return switchedOff;
  deps.onFault?.(error, requestId);
  return deps.isUnavailable(error) ? unavailable : { code: 'internal_error' };
};
