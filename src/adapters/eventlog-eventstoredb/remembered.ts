import type { RecordedEvent as ServerEvent } from '@eventstore/db-client';
import type { StreamName } from '../../domain/common/ids.js';
import { EventLogUnavailable, type RememberedEvents, type Revision } from '../../ports/event-log.js';
import { EventLogStreamDeleted } from './faults.js';
import { type Reader, readLastAsStored, readStream } from './read.js';

/** An event of ours. Its id belongs to no other event, so another id in its place shows another log, or another end of this one. */
type Mark = { stream: StreamName; revision: Revision; id: string };

type Answer = Awaited<ReturnType<RememberedEvents['look']>>;

type Memory = RememberedEvents & {
  /**
   * To be called with the last event of ours, each time that the head of the log was read. It is remembered when the next look finds the earlier
   * ones over the same connection: behind another one may be another log.
   */
  sawHead(event: Pick<ServerEvent, 'streamId' | 'revision' | 'id'>): void;
  appended(mark: Mark): void;
  /**
   * Resolves when the log was looked at since the last loss of a connection. Throws `EventLogUnavailable` when the log lacks an event: nothing may be
   * appended, because a note may have been sent by that event.
   */
  ensureHeld(): Promise<void>;
  /**
   * Returns what a read finds while the log holds every remembered event. Reads again when a connection was lost meanwhile, because the answer may be
   * of another log. Throws as `ensureHeld` does: an absent stream would be taken for an invoice that was never accepted.
   */
  whileHeld<T>(read: () => Promise<T>): Promise<T>;
};

/**
 * Remembers the newest event at the last look and the last event that this process has appended. A server that was set back loses its connections, so
 * one look after each loss is enough for appends and reads (ADR 14). `losses`: how often a connection was lost or made.
 */
export const createMemory = (reader: Reader, losses: () => number): Memory => {
  let head: Mark | undefined;
  let appended: Mark | undefined;
  /** `at`: the value of `losses` when the event was read. */
  let seen: { mark: Mark; at: number } | undefined;
  /** The value of `losses` when a look began that found every event. */
  let heldAt: number | undefined;
  let looking: Promise<Answer> | undefined;

  const look = async (): Promise<Answer> => {
    const [began, newest] = [losses(), seen];
    const known = [head, appended].filter((mark) => mark !== undefined);
    const answers = await Promise.all(known.map((mark) => ask(reader, mark)));
    const answer = answers.includes('replaced') ? 'replaced' : answers.includes('missing') ? 'missing' : 'held';
    heldAt = answer === 'held' ? began : undefined;
    // An event that was read over another connection may be of a log that was at the address for a while, and would then be missing in this one.
    if (answer === 'held' && newest?.at === began && losses() === began) head = newest.mark;
    return answer;
  };
  const shared = (): Promise<Answer> => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  const ensureHeld = async (): Promise<void> => {
    while (heldAt !== losses()) {
      if ((await shared()) !== 'held') throw new EventLogUnavailable('the event log lacks an event that was in it');
    }
  };

  return {
    look: shared,
    forget: () => {
      head = undefined;
      appended = undefined;
    },
    sawHead: ({ streamId, revision, id }) => {
      seen = { mark: { stream: streamId, revision: Number(revision), id }, at: losses() };
    },
    appended: (mark) => {
      appended = mark;
    },
    ensureHeld,
    whileHeld: async (read) => {
      for (;;) {
        await ensureHeld();
        const before = losses();
        const found = await read();
        if (losses() === before || (head === undefined && appended === undefined)) return found;
      }
    },
  };
};

/** A stream that retention has cut begins later, and one that a person has hidden or deleted shows nothing: neither says that the log was set back. */
const ask = async (reader: Reader, { stream, revision, id }: Mark): Promise<Answer> => {
  try {
    const [found] = await readStream(reader, stream, { from: revision, limit: 1 });
    if (found !== undefined) return found.revision > revision || found.id === id ? 'held' : 'replaced';
    return (await readLastAsStored(reader, `$$${stream}`)) === undefined ? 'missing' : 'held';
  } catch (error) {
    if (error instanceof EventLogStreamDeleted) return 'held';
    throw error;
  }
};
