import { every, type Seen, some, transientCodes } from './classification.js';
import type { Exchange } from './exchange.js';

/** Reasons for not connecting that lie in this house, with one company. */
const OURS = new Set([
  ...['certificate_missing', 'certificate_expired', 'certificate_unusable', 'deadline_passed'],
  ...['call_not_begun', 'request_not_made'],
]);

/** A TLS alert of the other side is about the certificate of one company. */
const isAlert = (reason: string): boolean => reason === 'EPROTO' || /^ERR_SSL_.*ALERT/.test(reason);

/** Answers that are about who asks, and how often: no JSON is needed to say so. */
const ABOUT_THE_CALLER = new Set([401, 403, 429]);

/** "Serviço paralisado para manutenção". */
const MAINTENANCE = ['E1217'];

/**
 * Whether the environment as a whole stood in the way: unreachable, broken off, 5xx, maintenance, or a page where JSON
 * should be. What is about one company or one document is none, or one of them could stop all others.
 */
export const isOutage = ({ exchange, body, errors }: Seen): boolean => {
  if (exchange.kind !== 'answered') return isOutageReason(exchange);
  if (ABOUT_THE_CALLER.has(exchange.status)) return false;
  // A server's status beside codes that judge the document is an answer all the same.
  const serverFault = exchange.status >= 500 && every(errors, transientCodes);
  return serverFault || body === undefined || some(errors, MAINTENANCE);
};

const isOutageReason = ({ reason }: Extract<Exchange, { reason: string }>): boolean =>
  !OURS.has(reason) && !isAlert(reason);
