import { type AuditEvent, type AuditEventType, consoleStream } from '../../domain/log/audit-events.js';
import { epochMs, type Instant } from '../../domain/shared/time.js';
import type { Revision } from '../../ports/event-log.js';
import type { DecodedEvent } from '../event-store/codec.js';
import { type AuditDeps, appendAudit } from './append-audit.js';

export type ConsoleAccess =
  | { signedIn: { session: string; peer: string } }
  | { refused: { operator: string; peer: string } }
  | { signedOut: { session: string; peer: string } };

/** Puts on record who came into the console, who tried, and who left; whoever cannot be put on record does not come in. */
export const recordConsoleAccess = (access: ConsoleAccess, deps: AuditDeps): Promise<void> =>
  appendAudit(consoleStream, (at) => eventOf(access, at), 'record_support_act', deps);

const eventOf = (access: ConsoleAccess, at: Instant): AuditEvent => {
  if ('signedIn' in access) return { type: 'ConsoleSignedIn', data: { ...access.signedIn, at } };
  if ('refused' in access) return { type: 'ConsoleSignInRefused', data: { ...access.refused, at } };
  return { type: 'ConsoleSignedOut', data: { ...access.signedOut, at } };
};

/** Sessions that were ended before their time, here or by another process. */
export type EndedSessions = {
  /** Here, from now on; the record tells the other processes. */
  end(session: string): void;
  isEnded(session: string): Promise<boolean>;
};

const PAGE = 500;

type Stored = DecodedEvent<Extract<AuditEvent, { type: AuditEventType }>>;

/**
 * Reads the record once as far back as sessions live, and then what is new in it. While the log cannot be read, what is known stays:
 * nobody changes anything then, and no page shows what is personal.
 */
export const createEndedSessions = (
  { store, clock }: Pick<AuditDeps, 'store' | 'clock'>,
  lifeSeconds: number,
): EndedSessions => {
  const ended = new Map<string, number>();
  let next: Revision | undefined;

  const note = (events: readonly Stored[]): void => {
    for (const { type, data } of events) if (type === 'ConsoleSignedOut') ended.set(data.session, epochMs(data.at));
  };
  const oldest = (): number => epochMs(clock.now()) - lifeSeconds * 1000;

  const readBack = async (): Promise<void> => {
    const { version } = await store.load<AuditEvent>(consoleStream, { direction: 'backwards', limit: 1 });
    const end = version.kind === 'at' ? version.revision + 1 : 0;
    for (let upTo = end; upTo > 0; upTo -= PAGE) {
      const from = Math.max(0, upTo - PAGE);
      const { events } = await store.load<AuditEvent>(consoleStream, { from, limit: upTo - from });
      note(events);
      const [first] = events;
      if (first === undefined || epochMs(first.data.at) < oldest()) break;
    }
    next = end;
  };
  const readOn = async (from: Revision): Promise<void> => {
    const { events, version } = await store.load<AuditEvent>(consoleStream, { from });
    note(events);
    if (version.kind === 'at') next = Math.max(next ?? 0, version.revision + 1);
  };

  return {
    end: (session) => void ended.set(session, epochMs(clock.now())),
    isEnded: async (session) => {
      await (next === undefined ? readBack() : readOn(next)).catch(() => undefined);
      for (const [old, at] of ended) if (at < oldest()) ended.delete(old);
      return ended.has(session);
    },
  };
};
