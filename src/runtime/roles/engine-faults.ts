import { sqlFault } from '../../adapters/sql/errors.js';
import { StoreUnavailable } from '../../app/event-store/event-store.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../ports/event-log.js';

/** Whether the log or the database cannot be used now. Such a fault says nothing about the request or the work item that met it. */
export const isEngineFault = (error: unknown): boolean =>
  error instanceof StoreUnavailable ||
  error instanceof EventLogUnavailable ||
  error instanceof AppendOutcomeUnknown ||
  sqlFault(error) !== 'other';
