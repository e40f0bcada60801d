import { randomUUID } from 'node:crypto';
import type { AuditEvent } from '../../domain/log/audit-events.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../event-store/event-store.js';
import type { AppendSite } from '../sites.js';

export type AuditDeps = { store: EventStore; clock: Clock; actor: `support:${string}` };

/** One event at the end of a stream of the audit, whoever else writes to it. Throws what the log throws. */
export const appendAudit = async (
  stream: StreamName,
  eventAt: (now: Instant) => AuditEvent,
  site: AppendSite,
  { store, clock, actor }: AuditDeps,
): Promise<void> => {
  for (;;) {
    const { version } = await store.load(stream, { direction: 'backwards', limit: 1 });
    const now = clock.now();
    const commandId = randomUUID();
    const ids = { commandId, correlationId: commandId, causationId: commandId };
    if ((await store.append(stream, version, [eventAt(now)], { ...ids, actor, now, site })).ok) return;
  }
};
