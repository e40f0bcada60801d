import type { RequestSummary } from '../../http/deps.js';
import { createReminder, type Reminder } from '../../lib/reminder.js';
import { faultFields, type Logger, requestFields } from './logger.js';

/** A fault that lasts so long needs an operator. */
const LASTS_AFTER_MS = 60_000;

/** The longest time-out of a connection, in which one try of a silent database ends. The pauses between two tries are added by `everyMs`. */
const OVER_AFTER_MS = 60_000;

export type FaultLines = {
  /** `state` tells apart what fails side by side, and comes from a small set; `details` are of this fault alone. */
  tell(error: unknown, state?: object, details?: object): void;
  /** The work went well. */
  areOver(): void;
};

type Options = {
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  msg: string;
  /** Milliseconds between two tries of work that is tried again and again. Left out where other work asks for the same try. */
  everyMs?: number;
};

/** Faults of one kind in a row. `unlogged`: those since the last line. */
type Series = { kind: object; begin: number; last: number; unlogged: number; end: NodeJS.Timeout; reminder: Reminder };

/**
 * Logs the faults of work that is tried again and again: of each state and kind of fault the first, an error once they last a minute, then one in ten
 * minutes, and their end. `unlogged` counts those that have no line.
 */
export const createFaultLines = ({ logger, msg, everyMs = 0 }: Options): FaultLines => {
  const going = new Map<string, Series>();

  const end = (key: string): void => {
    const series = going.get(key);
    if (series === undefined) return;
    clearTimeout(series.end);
    going.delete(key);
    const lasted = Math.round((series.last - series.begin) / 1000);
    logger.info({ msg: 'a fault is over', of: msg, ...series.kind, ...count(series), lasted_s: lasted });
  };
  const begin = (key: string, kind: object): Series => {
    const now = performance.now();
    // Work without anything to do reports no success, so a series also ends by time.
    const timer = setTimeout(() => end(key), OVER_AFTER_MS + 2 * everyMs).unref();
    const series = { kind, begin: now, last: now, unlogged: 0, end: timer, reminder: createReminder() };
    going.set(key, series);
    return series;
  };

  return {
    tell: (error, state = {}, details = {}) => {
      const { at, ...fault } = faultFields(error);
      const kind = { ...state, ...fault };
      const key = JSON.stringify(kind);
      const series = going.get(key) ?? begin(key, kind);
      series.last = performance.now();
      series.end.refresh();
      const level = series.last - series.begin < LASTS_AFTER_MS ? 'warn' : 'error';
      if (!series.reminder.isDue(level)) {
        series.unlogged += 1;
        return;
      }
      logger[level]({ msg, ...details, ...kind, ...(at === undefined ? {} : { at }), ...count(series) });
      series.unlogged = 0;
    },
    areOver: () => [...going.keys()].forEach(end),
  };
};

const count = ({ unlogged }: Series): { unlogged?: number } => (unlogged === 0 ? {} : { unlogged });

/** Nothing paces refusals that the app never sees, but that each ends its connection. */
const MOST_PER_MINUTE = 600;
const MINUTE_MS = 60_000;

/** Logs the requests that the HTTP server refused before the app: of a flood the first of each minute, and then the number of the others. */
export const refusalLines = (
  logger: Pick<Logger, 'info' | 'warn'>,
  nowMs = (): number => performance.now(),
): ((summary: RequestSummary) => void) => {
  let since = Number.NEGATIVE_INFINITY;
  let logged = 0;
  let unlogged = 0;
  return (summary) => {
    const now = nowMs();
    if (now - since >= MINUTE_MS) {
      if (unlogged > 0) logger.warn({ msg: 'more requests were refused unread than are logged in a minute', unlogged });
      since = now;
      logged = 0;
      unlogged = 0;
    }
    if (logged === MOST_PER_MINUTE) {
      unlogged += 1;
      return;
    }
    logged += 1;
    logger.info({ msg: 'request', ...requestFields(summary) });
  };
};
