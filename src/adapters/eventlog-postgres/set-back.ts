import { EventLogSetBack, type LogPosition } from '../../ports/event-log.js';
import type { Mark, MarkedStretch, Stretch } from './reader.js';

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
