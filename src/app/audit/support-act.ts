import { type AuditEvent, supportStream } from '../../domain/log/audit-events.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import { type AuditDeps, appendAudit } from './append-audit.js';

/** What an operator is about to do to the machinery, which leaves no event of its own. */
export type SupportAct = { retryParked: StreamName } | { rebuild: string } | { giveUp: string; reason: string };

/** Puts an act on record before it is done: whoever cannot record it does not do it. */
export const recordSupportAct = (act: SupportAct, deps: AuditDeps): Promise<void> =>
  appendAudit(supportStream, (at) => eventOf(act, at), 'record_support_act', deps);

const eventOf = (act: SupportAct, at: Instant): AuditEvent => {
  if ('rebuild' in act) return { type: 'ProjectionRebuildOrdered', data: { projection: act.rebuild, at } };
  if ('retryParked' in act) return { type: 'ParkedWorkRetried', data: { subject: act.retryParked, at } };
  return { type: 'MasterKeyGivenUp', data: { generation: act.giveUp, reason: act.reason, at } };
};
