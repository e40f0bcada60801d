import { PdfFailed } from '../adapters/pdf/errors.js';
import { sqlFault } from '../adapters/sql/errors.js';
import { MasterKeyUnusable } from '../adapters/vault/key-file.js';
import { WrongMasterKey } from '../adapters/vault/master-key.js';
import { StoreUnavailable } from '../app/event-store/event-store.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../ports/event-log.js';
import { TooMuchWaits } from '../waiting/fair-gate.js';

/** Whether the service is well and only refused more work than it takes at a time: an operator has nothing to mend. */
export const isTooBusy = (error: unknown): boolean => error instanceof TooMuchWaits;

/** Whether the same request may succeed a little later, which its client is told as 503 with `Retry-After` (reading 30). */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof StoreUnavailable ||
  error instanceof EventLogUnavailable ||
  error instanceof AppendOutcomeUnknown ||
  isTooBusy(error) ||
  // A key file that is behind: another process of the service may have it, and this one reads it again.
  error instanceof WrongMasterKey ||
  error instanceof MasterKeyUnusable ||
  (error instanceof PdfFailed && error.reason !== 'not_a_note' && error.reason !== 'drawing') ||
  sqlFault(error) !== 'other';
