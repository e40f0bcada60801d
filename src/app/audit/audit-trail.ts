import {
  type AuditEvent,
  type AuditEventType,
  consoleStream,
  revealsStream,
  supportStream,
} from '../../domain/audit/events.js';
import type { StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import { operatorContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { anyState, transact } from '../event-store/transact.js';

export type AuditDeps = { store: EventStore; clock: Clock; actor: `support:${string}` };

/** The stream of each event that is appended here. */
const streams = {
  PersonalDataRevealed: revealsStream,
  ParkedWorkRetried: supportStream,
  ProjectionRebuildOrdered: supportStream,
  ProjectionRollbackOrdered: supportStream,
  MasterKeyGivenUp: supportStream,
  LogRecovered: supportStream,
  ConsoleSignedIn: consoleStream,
  ConsoleSignInRefused: consoleStream,
  ConsoleSignedOut: consoleStream,
} as const satisfies Partial<Record<AuditEventType, StreamName>>;

type DataOf<Type> = Omit<Extract<AuditEvent, { type: Type }>['data'], 'at'>;

/**
 * Appends what an operator is about to see or do, before it is seen or done. When this throws, the caller must open no field, do nothing and
 * sign no operator in. Throws what the log throws, and `StreamContended`.
 */
export const appendAudit = async <Type extends keyof typeof streams>(
  type: Type,
  data: DataOf<Type>,
  { store, clock, actor }: AuditDeps,
): Promise<void> => {
  const stream = streams[type];
  const decide = (_state: undefined, { now }: { now: Instant }) => ({
    events: [{ type, data: { ...data, at: now } } as unknown as AuditEvent],
  });
  const context = operatorContext(stream === revealsStream ? 'record_reveal' : 'record_support_act', { actor });
  await transact({ stream, read: 'last', fold: anyState, decide, context }, { store, clock });
};
