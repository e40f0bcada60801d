import { faultFields, type Logger } from './logger.js';
import { isTooBusy } from './unavailable.js';

/** The line of a request that ended in a fault: a warning when only too much was asked for at a time, else an error. */
export const requestFaults =
  (logger: Pick<Logger, 'warn' | 'error'>) =>
  (error: unknown, requestId: string): void => {
    const fields = { request_id: requestId, ...faultFields(error) };
    if (isTooBusy(error)) logger.warn({ msg: 'request refused: too much waits', ...fields });
    else logger.error({ msg: 'request failed', ...fields });
  };
