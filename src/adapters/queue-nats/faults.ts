import { NatsError } from 'nats';
import { WorkQueueUnavailable } from '../../ports/work-queue.js';

/** Of the server's answer if it gave one, else of the client. Texts of servers are not shown: they may quote addresses. */
export const faultCode = (error: unknown): string => {
  if (error instanceof WorkQueueUnavailable) return error.code;
  if (!(error instanceof NatsError)) return error instanceof Error ? error.name : typeof error;
  return error.api_error === undefined ? error.code : `JetStream ${error.api_error.err_code ?? error.api_error.code}`;
};

/** Turns whatever the client threw into the port's error; one that is it already keeps its first words. */
export const unavailable = (what: string, error: unknown): WorkQueueUnavailable =>
  error instanceof WorkQueueUnavailable ? error : new WorkQueueUnavailable(what, faultCode(error));

/** The stream, consumer or message asked for does not exist. */
export const isNotFound = (error: unknown): boolean => error instanceof NatsError && error.api_error?.code === 404;

/** Nobody listens on the subject: the stream is gone, or JetStream is not up. */
export const isUnheard = (error: unknown): boolean =>
  error instanceof NatsError && error.api_error === undefined && error.code === '503';

/** 10071, or 10164 of later servers: the subject does not end where the publisher expected it to. */
export const isWrongLastSequence = (error: unknown): boolean =>
  error instanceof NatsError && [10071, 10164].includes(error.api_error?.err_code ?? 0);

/** The server understood and refuses; asking again the same way is in vain. */
export const isRefused = (error: unknown): boolean =>
  error instanceof NatsError && error.api_error !== undefined && error.api_error.code !== 503;
