import { type AuditEvent, supportStream } from '../../domain/audit/events.js';
import type { CompanyId } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { EventStore } from '../event-store/event-store.js';

/** When log recoveries ended, in order. */
export const logRecoveries = async (store: Pick<EventStore, 'load'>): Promise<readonly Instant[]> => {
  const { events } = await store.load<AuditEvent>(supportStream);
  return events.flatMap((event) => (event.type === 'LogRecovered' ? [event.data.at] : []));
};

/** The companies that the last log recovery could not compare: each may have notes that the log has lost. */
export const heldCompanies = async (store: Pick<EventStore, 'load'>): Promise<readonly CompanyId[]> => {
  const { events } = await store.load<AuditEvent>(supportStream);
  const last = events.findLast((event) => event.type === 'LogRecovered');
  return last?.data.heldCompanies ?? [];
};
