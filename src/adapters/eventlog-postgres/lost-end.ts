import type pg from 'pg';
import type { StreamName } from '../../domain/common/ids.js';
import { EventLogSetBack, type LogPosition, type LostEnd, type Revision } from '../../ports/event-log.js';
import type { Mark, MarkedStretch, Stretch } from './reader.js';

/** The last event that this process has appended. An append is answered without a position, and its id belongs to no other event. */
export type AppendedMark = { stream: StreamName; revision: Revision; id: string };

/** `reads`: events that the log must hold. */
type Marks = { reads: readonly Mark[]; appended: AppendedMark | undefined };

type Db = Pick<pg.ClientBase, 'query'>;

/** Events read between two looks that are remembered. A process of the service looks four times a second, and a command not at all. */
const MOST_READS = 1_000;

export type EndWatch = LostEnd & {
  /**
   * Compares the log with what this process has read and appended. Returns false when the answer proves nothing, because the server takes no writes.
   */
  check(db: Db): Promise<boolean>;
  /** To be called before a statement that reads events, with the result of which the last of them is remembered. */
  beginRead(): (last: Mark | undefined) => void;
  /** The same for a statement that also asks for a mark, with the result of which its answer is looked at too. */
  beginMarkedRead(): (answer: Pick<MarkedStretch, 'last' | 'holdsMark'>, mark: Mark | undefined) => Promise<void>;
  /** Whether a loss is known that was not accepted. */
  isKnownLost(): boolean;
  /** To be called before an append is sent, with the result of which its last event is remembered. */
  beginAppend(): (last: AppendedMark) => void;
};

/**
 * Notices that the log lost events which this process knows, as by a failover to a standby that had not received them (ADR 14). A note may have been
 * sent by one of them, so nothing may be appended until a pause of issuing is recorded. A session of a server never loses events, so one check for each
 * new connection is enough for the appends.
 */
export const watchEnd = (db: Db): EndWatch => {
  /** The end of the log at the last look that found everything there. */
  let end: Mark | undefined;
  /**
   * What was read after that end, by hash. None takes the place of another before a look has found both: after a failover a process may read a new
   * event of another process, and a lost event before that one would be forgotten.
   */
  const reads = new Map<string, Mark>();
  let appended: AppendedMark | undefined;
  let isKnownLost = false;
  /** How often a loss was accepted: an answer to a question from before may be the old server's. */
  let accepted = 0;
  const listeners: (() => void)[] = [];
  /** The value of `accepted` before each event was read. A subscription may ask for an event whose loss was accepted. */
  const readAt = new WeakMap<Mark, number>();

  const check = async (asked: Db, read?: Mark): Promise<boolean> => {
    const before = accepted;
    const isPast = (): boolean => isKnownLost || accepted !== before;
    const known: Marks = { reads: [end, ...reads.values(), read].filter((mark) => mark !== undefined), appended };
    const first = await askEnd(asked, known);
    if (isPast() || !first.takesWrites) return first.takesWrites;
    if (first.holds) {
      end = further(end, first.last);
      for (const { hash } of known.reads) reads.delete(hash);
      return true;
    }
    // A standby that is promoted during a statement takes writes, and yet answers from before it had made all that it received readable.
    const second = await askEnd(asked, known);
    if (isPast() || !second.takesWrites) return second.takesWrites;
    if (!second.holds) {
      isKnownLost = true;
      for (const listener of listeners) listener();
    }
    return true;
  };

  /**
   * What a process works on may be lost before it looks at the end of the log: its next append then is that of another history. An event up to the end
   * that was known before the read is remembered with that end. A later end does not count: the answer may be the old server's.
   */
  const rememberFrom =
    (before: number, endBefore: Mark | undefined) =>
    (read: Mark | undefined): void => {
      if (read === undefined || isKnownLost || accepted !== before) return;
      if (endBefore !== undefined && read.position <= endBefore.position) return;
      reads.set(read.hash, read);
      const [oldest] = reads.keys();
      if (reads.size > MOST_READS && oldest !== undefined) reads.delete(oldest);
    };

  return {
    check: (asked) => check(asked),
    beginRead: () => rememberFrom(accepted, end),
    beginMarkedRead: () => {
      const before = accepted;
      const remember = rememberFrom(before, end);
      return async ({ last, holdsMark }, mark) => {
        remember(last);
        if (last !== undefined) readAt.set(last, before);
        if (!holdsMark && mark !== undefined && readAt.get(mark) === accepted) await check(db, mark);
      };
    },
    isKnownLost: () => isKnownLost,
    beginAppend: () => {
      const before = accepted;
      return (last) => {
        if (!isKnownLost && accepted === before) appended = last;
      };
    },
    isLost: async () => {
      if (!isKnownLost) await check(db);
      return isKnownLost;
    },
    onLost: (listener) => {
      listeners.push(listener);
    },
    accept: () => {
      if (!isKnownLost) return;
      end = undefined;
      reads.clear();
      appended = undefined;
      isKnownLost = false;
      accepted += 1;
    },
  };
};

const further = (one: Mark | undefined, other: Mark | undefined): Mark | undefined => {
  if (one === undefined || other === undefined) return one ?? other;
  return other.position > one.position ? other : one;
};

type End = { holds: boolean; takesWrites: boolean; last: Mark | undefined };

/**
 * One snapshot shows the end of the log and whether the marks are held, so a later end never takes the place of a lost mark. A mark that retention has
 * cut counts as held: retention cuts no last event of a stream.
 */
const askEnd = async (db: Db, { reads, appended }: Marks): Promise<End> => {
  const { rows } = await db.query<{ head: string; hash: string | null; holds: boolean; takes_writes: boolean }>({
    name: 'ask-end',
    text: `select h.position as head, (select hash from event_log where position = h.position) as hash,
        current_setting('transaction_read_only') = 'off' as takes_writes,
        not exists (
          select from unnest($1::bigint[], $2::text[]) m (position, hash)
          where not coalesce((select e.hash = m.hash from event_log e where e.position = m.position), m.position <= h.position)
        ) and coalesce(
          (select id = $5::uuid from event_log where stream = $3::text and revision = $4::integer),
          exists (select from event_log where stream = $3::text and revision > $4::integer) or $3::text is null
        ) as holds
      from event_log_head h`,
    values: [
      reads.map(({ position }) => position),
      reads.map(({ hash }) => hash),
      appended?.stream ?? null,
      appended?.revision ?? null,
      appended?.id ?? null,
    ],
  });
  const end = rows[0];
  if (end === undefined) throw new Error('the event log has no head: was it migrated?');
  const last = end.hash === null ? undefined : { position: BigInt(end.head) as LogPosition, hash: end.hash };
  return { holds: end.holds, takesWrites: end.takes_writes, last };
};

type ReadMarked = (prefixes: readonly string[], after: LogPosition, mark: Mark | undefined) => Promise<MarkedStretch>;

/** `history`: how often this process has noticed until then that the log lost its end. Only stretches of one history follow each other. */
export type WatchedStretch = Stretch & { history: number };

export type WatchedRead = {
  /** Throws `EventLogSetBack` when the log ends before `after`. */
  read(prefixes: readonly string[], after: LogPosition): Promise<WatchedStretch>;
  history(): number;
};

/**
 * Notices a log that lost its end. A failover to a standby that had not received the last events replaces the log under running processes, and not
 * every process sees an interruption. So each statement also asks whether the furthest event that this process has read is still there. The log is
 * a prefix of one write-ahead log, so everything before that event is there too.
 */
export const watchedRead = (readMarked: ReadMarked): WatchedRead => {
  let furthest: Mark | undefined;
  let history = 0;
  const read = async (prefixes: readonly string[], after: LogPosition): Promise<WatchedStretch> => {
    const asked = history;
    const { head, last, holdsMark, ...stretch } = await readMarked(prefixes, after, furthest);
    // Another read has noticed the loss meanwhile, and this answer may be the old server's.
    if (history !== asked) return await read(prefixes, after);
    if (!holdsMark) {
      history += 1;
      furthest = undefined;
    }
    if (last !== undefined && (furthest === undefined || last.position > furthest.position)) furthest = last;
    if (after > head) throw new EventLogSetBack();
    return { ...stretch, history };
  };
  return { read, history: () => history };
};
