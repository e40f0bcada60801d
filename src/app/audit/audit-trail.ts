import { type AuditEvent, consoleStream, revealsStream, supportStream } from '../../domain/audit/events.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { ParkedWork } from '../../ports/work-queue.js';
import type { AppendSite } from '../event-store/append-sites.js';
import { operatorContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { anyState, transact, unlessContended } from '../event-store/transact.js';

export type AuditDeps = { store: EventStore; clock: Clock; actor: `support:${string}` };

/** Appends one event to an audit stream. Throws what the log throws, and `StreamContended`. */
const appendAudit = async (
  stream: StreamName,
  eventAt: (now: Instant) => AuditEvent,
  site: AppendSite,
  { store, clock, actor }: AuditDeps,
): Promise<void> => {
  const decide = (_state: undefined, { now }: { now: Instant }) => ({ events: [eventAt(now)] });
  const command = { stream, read: 'last' as const, fold: anyState, decide, context: operatorContext(site, { actor }) };
  unlessContended(await transact(command, { store, clock }));
};

/** Appends that an operator is about to see personal data. When this throws, the caller must not open anything. */
export const appendReveal = (seen: { command: string; subject: string }, deps: AuditDeps): Promise<void> =>
  appendAudit(revealsStream, (at) => ({ type: 'PersonalDataRevealed', data: { ...seen, at } }), 'record_reveal', deps);

/** What an operator is about to do to the service and no other event records. */
type SupportAct = { retryParked: StreamName } | { rebuild: string } | { giveUp: string; reason: string };

/** Appends an act before it is done. When this throws, the caller must not act. */
export const appendSupportAct = (act: SupportAct, deps: AuditDeps): Promise<void> =>
  appendAudit(supportStream, (at) => supportEvent(act, at), 'record_support_act', deps);

const supportEvent = (act: SupportAct, at: Instant): AuditEvent => {
  if ('rebuild' in act) return { type: 'ProjectionRebuildOrdered', data: { projection: act.rebuild, at } };
  if ('retryParked' in act) return { type: 'ParkedWorkRetried', data: { subject: act.retryParked, at } };
  return { type: 'MasterKeyGivenUp', data: { generation: act.giveUp, reason: act.reason, at } };
};

/** The parked work items of all processes. */
export type ParkedQueue = {
  parked(): Promise<readonly ParkedWork[]>;
  retryParked(stream: StreamName): Promise<boolean>;
};

/** Appends who orders the retry, then retries. False, and nothing appended, when no work item of this stream is parked. */
export const retryParked = async (stream: StreamName, queue: ParkedQueue, deps: AuditDeps): Promise<boolean> => {
  if (!(await queue.parked()).some((item) => item.stream === stream)) return false;
  await appendSupportAct({ retryParked: stream }, deps);
  return await queue.retryParked(stream);
};

type ConsoleAccess =
  | { signedIn: { session: string; peer: string } }
  | { refused: { operator: string; peer: string } }
  | { signedOut: { session: string; peer: string } };

/** Appends who signed in to the console, who was refused, and who signed out. When this throws, the caller must not let the operator in. */
export const appendConsoleAccess = (access: ConsoleAccess, deps: AuditDeps): Promise<void> =>
  appendAudit(consoleStream, (at) => consoleEvent(access, at), 'record_support_act', deps);

const consoleEvent = (access: ConsoleAccess, at: Instant): AuditEvent => {
  if ('signedIn' in access) return { type: 'ConsoleSignedIn', data: { ...access.signedIn, at } };
  if ('refused' in access) return { type: 'ConsoleSignInRefused', data: { ...access.refused, at } };
  return { type: 'ConsoleSignedOut', data: { ...access.signedOut, at } };
};
