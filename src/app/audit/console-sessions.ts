import { type AuditEvent, consoleStream } from '../../domain/audit/events.js';
import { epochMs } from '../../domain/common/time.js';
import type { Revision } from '../../ports/event-log.js';
import type { StreamEvent } from '../event-store/codec.js';
import type { AuditDeps } from './audit-trail.js';

/** Sessions that were ended before they expired, by this process or another. */
export type EndedSessions = {
  /** Ends the session in this process; the other processes read the recorded sign-out. */
  end(session: string): void;
  isEnded(session: string): Promise<boolean>;
};

const PAGE = 500;

/**
 * Reads the stream once, as far back as sessions live, and then only new events. While the log cannot be read, the known sessions stay as they
 * are: without the log nothing can be changed, and no page shows personal data.
 */
export const createEndedSessions = (
  { store, clock }: Pick<AuditDeps, 'store' | 'clock'>,
  lifeSeconds: number,
): EndedSessions => {
  const ended = new Map<string, number>();
  let next: Revision | undefined;

  const collect = (events: readonly StreamEvent<AuditEvent>[]): void => {
    for (const { type, data } of events) if (type === 'ConsoleSignedOut') ended.set(data.session, epochMs(data.at));
  };
  const oldest = (): number => epochMs(clock.now()) - lifeSeconds * 1000;

  const readBack = async (): Promise<void> => {
    const { version } = await store.load<AuditEvent>(consoleStream, { direction: 'backwards', limit: 1 });
    const end = version.kind === 'at' ? version.revision + 1 : 0;
    for (let upTo = end; upTo > 0; upTo -= PAGE) {
      const from = Math.max(0, upTo - PAGE);
      const { events } = await store.load<AuditEvent>(consoleStream, { from, limit: upTo - from });
      collect(events);
      const [first] = events;
      if (first === undefined || epochMs(first.data.at) < oldest()) break;
    }
    next = end;
  };
  const readOn = async (from: Revision): Promise<void> => {
    const { events, version } = await store.load<AuditEvent>(consoleStream, { from });
    collect(events);
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
