import {
  type EventBatch,
  EventLogUnavailable,
  type LogPosition,
  SUBSCRIPTION_BATCH,
  type Subscription,
} from '../../ports/event-log.js';
import { createBackoff, jittered } from '../../waiting/backoff.js';
import { pause } from '../../waiting/pause.js';
import type { Beginnings } from './beginnings.js';
import { isTooSlow } from './faults.js';
import { eventsOf, type Following, follow, laterOf } from './following.js';
import { readBehind } from './forwards.js';
import type { Reader } from './read.js';

/** Between two tries at a lost server; doubles, with jitter. */
const RETRY_MS = { first: 50, longest: 2_000 };

/** Before a subscription that the server gave up, alive as it is, is begun again; pages go on at once. */
const TOO_SLOW_MS = 100;

export type Supervision = {
  reader: Reader;
  beginnings: Beginnings;
  /** A subscription that brings nothing for so long is compared with the log. */
  checkMs: number;
  /** Aborts when the log is closed. */
  closing: AbortSignal;
};

/**
 * Catch-up, then live. What is there is read by pages, and only where they end does a subscription begin: the server gives
 * one up that has more to catch up with than it keeps for a slow taker. A subscription also ends for good when its connection does,
 * when it falls silent, or when its events find no room here: whatever happens to it, pages go on behind the last event, and another
 * subscription behind them. Ends when the signal aborts.
 */
export async function* supervised(
  { reader, beginnings, checkMs, closing }: Supervision,
  { prefixes, after, signal: own, onInterrupted }: Subscription,
): AsyncGenerator<EventBatch, void> {
  const signal = AbortSignal.any([own, closing]);
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  let place = after;
  while (!signal.aborted) {
    let following: Following | undefined;
    try {
      for (let atEnd = false; !atEnd; ) {
        const stretch = await readBehind(reader, { prefixes, after: place, limit: SUBSCRIPTION_BATCH }, signal);
        const shown = await beginnings(stretch.events);
        if (signal.aborted) return;
        if (shown.length > 0) yield shown;
        place = stretch.lookedTo;
        atEnd = stretch.atEnd;
      }
      following = await follow(reader, prefixes, place);
      for await (const batch of batchesOf(following, { reader, prefixes, after: place, checkMs, signal })) {
        waits.reset();
        const shown = await beginnings(batch);
        if (signal.aborted) return;
        if (shown.length > 0) yield shown;
        place = batch[batch.length - 1]?.position ?? place;
      }
    } catch (error) {
      if (signal.aborted) return;
      onInterrupted?.(error);
      await pause(isTooSlow(error) ? jittered(TOO_SLOW_MS) : waits.next(), signal);
    } finally {
      following?.inbox.close();
    }
  }
}

type Watch = {
  reader: Reader;
  prefixes: readonly string[];
  after: LogPosition | null;
  checkMs: number;
  signal: AbortSignal;
};

/** Of one subscription, until there is no room for its events, until it is lost, which throws, or until the signal aborts. */
async function* batchesOf(
  { inbox, preface, lookedTo }: Following,
  { reader, prefixes, after, checkMs, signal }: Watch,
): AsyncGenerator<EventBatch, void> {
  let cursor = after;
  let missed: LogPosition | undefined;
  const begun = performance.now();
  let batch = eventsOf(preface, prefixes);
  while (!signal.aborted) {
    if (batch.length > 0) {
      cursor = batch[batch.length - 1]?.position ?? cursor;
      missed = undefined;
      yield batch;
    } else {
      if (inbox.isFull() && inbox.isEmpty()) return;
      const before = performance.now();
      await inbox.wait(checkMs, signal);
      if (!signal.aborted && performance.now() - before >= checkMs) {
        if (!inbox.isConfirmed()) {
          if (performance.now() - begun < reader.timeoutMs) continue;
          throw new EventLogUnavailable('the event log does not begin a subscription');
        }
        const waiting = await nextOf(reader, prefixes, laterOf(cursor, lookedTo()), signal);
        if (waiting !== undefined && waiting === missed) throw new EventLogUnavailable('a subscription fell silent');
        missed = waiting;
      }
    }
    batch = eventsOf(inbox.take(SUBSCRIPTION_BATCH), prefixes);
  }
}

/** Where the next event stands that the subscription should bring; it has until the next look to do so. */
const nextOf = async (
  reader: Reader,
  prefixes: readonly string[],
  after: LogPosition | null,
  signal: AbortSignal,
): Promise<LogPosition | undefined> =>
  (await readBehind(reader, { prefixes, after, limit: 1 }, signal)).events[0]?.position;
