import type { LogPosition, RecordedEvent } from '../../ports/event-log.js';
import { SUBSCRIPTION_BATCH } from '../../ports/event-log.js';
import type { WatchedRead, WatchedStretch } from './lost-end.js';

/** `seen`: how many appends of this process were counted before the read began, so that a later one is not slept through. */
export type SeenStretch = WatchedStretch & { seen: number };

/** Throws `EventLogSetBack` when the log ends before `after`. */
type ReadNext = (prefixes: readonly string[], after: LogPosition) => Promise<SeenStretch>;

/** Events of the log's end that are kept for subscriptions that come for them later. */
const KEPT_EVENTS = 512;

/** `events` are all events of streams with a prefix of `wanted` after `from`, up to `upTo`. */
type Tail = { wanted: ReadonlySet<string>; from: LogPosition; upTo: LogPosition; events: readonly RecordedEvent[] } & {
  atEnd: boolean;
  seen: number;
  history: number;
};

export type SharedTail = {
  /** Reads the log itself, as the first read of a subscription must: what is kept may be of a log that has lost its end since. */
  readAlone: ReadNext;
  readNext: ReadNext;
};

/**
 * Reads the end of the log once for all subscriptions of a process, which follow it at nearly the same place: one statement and one parsing of each
 * event, not one for each subscription (ADR 45). A subscription that is further behind reads for itself. A call never joins a statement that was sent
 * before, so an answer is never older than its question unless it holds events. What is kept goes when the log has lost its end.
 */
export const sharedTail = ({ read, history }: WatchedRead, countAppends: () => number): SharedTail => {
  let tail: Tail | undefined;
  let underWay: Promise<void> | undefined;
  let planned: Promise<void> | undefined;

  const readOn = async (): Promise<void> => {
    const before = tail;
    if (before === undefined) return;
    const seen = countAppends();
    const { events, cursor, atEnd, history: own } = await read([...before.wanted], before.upTo);
    // A prefix came meanwhile, whose events this statement does not have, or the log has lost its end.
    if (tail !== before || own !== before.history) return;
    const all = [...before.events, ...events];
    const dropped = all[all.length - KEPT_EVENTS - 1];
    const from = dropped?.position ?? before.from;
    tail = { wanted: before.wanted, from, upTo: cursor, events: all.slice(-KEPT_EVENTS), atEnd, seen, history: own };
  };

  const readOnTogether = (): Promise<void> => {
    planned ??= (async () => {
      await underWay?.catch(() => undefined);
      // Lets all subscriptions that wake in this turn of the event loop join.
      await new Promise((resolve) => setImmediate(resolve));
      planned = undefined;
      underWay = readOn();
      await underWay;
    })();
    return planned;
  };

  const readAlone: ReadNext = async (prefixes, after) => {
    const seen = countAppends();
    const stretch = await read(prefixes, after);
    const { cursor, atEnd, history: own } = stretch;
    if (atEnd && tailNow() === undefined) {
      tail = { wanted: new Set(prefixes), from: cursor, upTo: cursor, events: [], atEnd, seen, history: own };
    }
    return { ...stretch, seen };
  };

  const tailNow = (): Tail | undefined => {
    if (tail?.history !== history()) tail = undefined;
    return tail;
  };

  const readNext: ReadNext = async (prefixes, after) => {
    const before = tailNow();
    if (before !== undefined && !prefixes.every((prefix) => before.wanted.has(prefix))) {
      tail = { ...before, wanted: new Set([...before.wanted, ...prefixes]), from: before.upTo, events: [] };
    }
    if (tail === undefined || after < tail.from) return await readAlone(prefixes, after);
    const kept = stretchOf(tail, prefixes, after);
    if (kept.events.length > 0) return kept;
    await readOnTogether();
    const read = tailNow();
    return read === undefined || after < read.from
      ? await readAlone(prefixes, after)
      : stretchOf(read, prefixes, after);
  };

  return { readAlone, readNext };
};

const stretchOf = (tail: Tail, prefixes: readonly string[], after: LogPosition): SeenStretch => {
  const { upTo, atEnd, seen, history } = tail;
  const found = tail.events.filter(
    ({ position, stream }) => position > after && prefixes.some((prefix) => stream.startsWith(prefix)),
  );
  const events = found.slice(0, SUBSCRIPTION_BATCH);
  const last = events.at(-1);
  if (found.length > events.length && last !== undefined) {
    return { events, cursor: last.position, atEnd: false, seen, history };
  }
  return { events, cursor: upTo > after ? upTo : after, atEnd, seen, history };
};
