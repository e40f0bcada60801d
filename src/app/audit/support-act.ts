import { type AuditEvent, supportStream } from '../../domain/log/audit-events.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import { type AuditDeps, appendAudit } from './append-audit.js';

/** What an operator is about to do to the machinery, which leaves no event of its own. */
export type SupportAct = { retryParked: StreamName } | { rebuild: string };

/** Puts an act on record before it is done: whoever cannot record it does not do it. */
export const recordSupportAct = (act: SupportAct, deps: AuditDeps): Promise<void> => {
  const event = (at: Instant): AuditEvent =>
    'rebuild' in act
      ? { type: 'ProjectionRebuildOrdered', data: { projection: act.rebuild, at } }
      : { type: 'ParkedWorkRetried', data: { subject: act.retryParked, at } };
  return appendAudit(supportStream, event, 'record_support_act', deps);
};
