import { ErrorCode, NatsError } from 'nats';
import { errorCode } from '../../lib/error-code.js';
import { type QueueFault, WorkQueueUnavailable } from '../../ports/work-queue.js';

/** The code of the server's answer, else of the client. Texts of servers are not shown, because they may quote addresses. */
export const faultCode = (error: unknown): string => {
  if (error instanceof WorkQueueUnavailable) return error.code;
  if (!(error instanceof NatsError)) return errorCode(error) ?? (error instanceof Error ? error.name : typeof error);
  return error.api_error === undefined ? error.code : `JetStream ${error.api_error.err_code ?? error.api_error.code}`;
};

/** Returns the port's error for what the client threw; a `WorkQueueUnavailable` stays as it is. */
export const unavailable = (what: string, error: unknown): WorkQueueUnavailable => {
  if (error instanceof WorkQueueUnavailable) return error;
  const code = faultCode(error);
  return new WorkQueueUnavailable(what, code, faultOf(code));
};

const faultOf = (code: string): QueueFault => {
  if (REFUSED.has(code)) return 'refused';
  if (WITHOUT_JETSTREAM.has(code)) return 'without_jetstream';
  return UNTRUSTED.test(code) ? 'untrusted' : 'unavailable';
};

const REFUSED: ReadonlySet<string> = new Set([
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AuthenticationTimeout,
  ErrorCode.AccountExpired,
  ErrorCode.BadAuthentication,
  ErrorCode.PermissionsViolation,
]);

/** Whether the server closes the connection because of this code. A violation of permissions concerns one subject, and the connection lasts. */
export const isRefusal = (code: string): boolean => REFUSED.has(code) && code !== ErrorCode.PermissionsViolation;

/** JetStream's subjects have no listener; it is off for the account; it is off in the server. */
const WITHOUT_JETSTREAM: ReadonlySet<string> = new Set([ErrorCode.NoResponders, 'JetStream 10039', 'JetStream 10076']);

/** Of the client: no TLS where the address asks for it. Of Node: what is wrong with a certificate, or with the TLS itself. */
const UNTRUSTED =
  /^TLS$|^SERVER_OPT_NA$|CERT|SIGNATURE|ALTNAME|UNABLE_TO|CRL_|INVALID_CA|INVALID_PURPOSE|^EPROTO$|^ERR_(?:SSL|TLS)_/;

/** The answer; undefined when the stream, consumer or message does not exist. Throws the client's other errors. */
export const ifFound = async <T>(asking: Promise<T>): Promise<T | undefined> => {
  try {
    return await asking;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** Whether the stream, consumer or message does not exist. */
export const isNotFound = (error: unknown): boolean => error instanceof NatsError && error.api_error?.code === 404;

/** Whether no server listens on the subject: the stream is gone, or JetStream does not run. */
export const isUnheard = (error: unknown): boolean =>
  error instanceof NatsError && error.api_error === undefined && error.code === '503';

/** Whether the subject does not end where the publisher expected: 10071, or 10164 of later servers. */
export const isWrongLastSequence = (error: unknown): boolean =>
  error instanceof NatsError && [10071, 10164].includes(error.api_error?.err_code ?? 0);

/** Whether the server understood the request and refuses it, so that repeating it is useless. */
export const isRefused = (error: unknown): boolean =>
  error instanceof NatsError && error.api_error !== undefined && error.api_error.code !== 503;
