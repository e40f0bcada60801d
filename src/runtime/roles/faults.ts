import { PdfFailed } from '../../adapters/pdf/renderer.js';
import { sqlFault } from '../../adapters/sql/errors.js';
import { MasterKeyUnusable } from '../../adapters/vault/key-file.js';
import { WrongMasterKey } from '../../adapters/vault/master-key.js';
import { StoreUnavailable } from '../../app/event-store/event-store.js';
import { StreamContended } from '../../app/event-store/transact.js';
import { TooManyWaiting } from '../../lib/fair-semaphore.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../ports/event-log.js';
import { SealingKeyUnknown } from '../../ports/sealing-keys.js';
import { faultFields, type Logger } from '../config/logger.js';
import type { DiskSpace } from '../engines/disk-space.js';

/** Whether the log or the database cannot be used now. Such a fault says nothing about the request or the work item that met it. */
export const isEngineFault = (error: unknown): boolean =>
  error instanceof StoreUnavailable ||
  error instanceof EventLogUnavailable ||
  error instanceof AppendOutcomeUnknown ||
  sqlFault(error) !== 'other';

/** Whether the service only refused more work than it takes at once. Nothing needs repair then. */
export const isOverloaded = (error: unknown): boolean => error instanceof TooManyWaiting;

/** Whether the requests of this company alone were too many. */
export const isOwnOverload = (error: unknown): boolean => error instanceof TooManyWaiting && error.bound === 'owner';

/** Whether the same request may succeed a little later; the answer is then 503 with `Retry-After` (CODE-service_unavailable). */
export const isUnavailable = (error: unknown): boolean =>
  isEngineFault(error) ||
  error instanceof StreamContended ||
  isOverloaded(error) ||
  isOfKeyFile(error) ||
  (error instanceof PdfFailed && error.reason !== 'not_a_note' && error.reason !== 'layout');

/** The key file may be behind that of another process, or older than the log. This process reads the file again. */
const isOfKeyFile = (error: unknown): error is Error =>
  error instanceof WrongMasterKey || error instanceof MasterKeyUnusable || error instanceof SealingKeyUnknown;

/** The stream, which holds a CNPJ, is left out. */
const detailOf = (error: unknown): { detail?: string } =>
  isOfKeyFile(error) ? { detail: error instanceof SealingKeyUnknown ? error.fault : error.message } : {};

/** Logs a request that ended in a fault. `detail` says what to do about the key file: these messages are texts of this code. */
export const requestFaults =
  (logger: Pick<Logger, 'warn' | 'error'>, diskSpace: Pick<DiskSpace, 'record'>) =>
  (error: unknown, requestId: string): void => {
    diskSpace.record(error);
    const fields = { request_id: requestId, ...faultFields(error), ...detailOf(error) };
    if (isOverloaded(error)) logger.warn({ msg: 'request refused: too many requests are waiting', ...fields });
    else logger.error({ msg: 'request failed', ...fields });
  };
