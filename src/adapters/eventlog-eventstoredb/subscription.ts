import { createBackoff, jittered } from '../../lib/backoff.js';
import { pause } from '../../lib/pause.js';
import {
  type EventBatch,
  EventLogUnavailable,
  type LogPosition,
  SUBSCRIPTION_BATCH,
  type Subscription,
} from '../../ports/event-log.js';
import { isTooSlow } from './faults.js';
import { eventsOf, type Following, follow, laterOf } from './following.js';
import { readAfter } from './pages.js';
import type { Reader } from './read.js';
import type { StreamStartFilter } from './stream-starts.js';

/** Pause between two tries at a lost server; doubles, with jitter. */
const RETRY_MS = { first: 50, longest: 2_000 };

/** Pause before the next pages when a running server gave up a subscription that was too slow. */
const TOO_SLOW_MS = 100;

type Supervision = {
  reader: Reader;
  streamStarts: StreamStartFilter;
  /** A subscription that is silent for this long is compared with the log. */
  checkMs: number;
  /** Throws `EventLogUnavailable` when the log lacks an event that this process knows: what follows the cursor is then of another log. */
  ensureHeld(): Promise<void>;
  /** Aborts when the log is closed. */
  closing: AbortSignal;
};

/**
 * Catch-up, then live. Existing events are read by pages, and a subscription begins only where they end, because the server gives up a subscription
 * that has more to catch up with than it keeps for a slow reader. When a subscription ends (lost connection, silence, full inbox), pages continue
 * after the last event and another subscription follows. Ends when the signal aborts.
 */
export async function* supervised(
  { reader, streamStarts, checkMs, ensureHeld, closing }: Supervision,
  { prefixes, after, signal: own, onInterrupted }: Subscription,
): AsyncGenerator<EventBatch, void> {
  const signal = AbortSignal.any([own, closing]);
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  let cursor = after;
  while (!signal.aborted) {
    let following: Following | undefined;
    try {
      await ensureHeld();
      for (let atEnd = false; !atEnd; ) {
        const stretch = await readAfter(reader, { prefixes, after: cursor, limit: SUBSCRIPTION_BATCH }, signal);
        const shown = await streamStarts(stretch.events);
        if (signal.aborted) return;
        if (shown.length > 0) yield shown;
        cursor = stretch.cursor;
        atEnd = stretch.atEnd;
      }
      following = await follow(reader, prefixes, cursor);
      for await (const batch of batchesOf(following, { reader, prefixes, after: cursor, checkMs, signal })) {
        waits.reset();
        const shown = await streamStarts(batch);
        if (signal.aborted) return;
        if (shown.length > 0) yield shown;
        cursor = batch.at(-1)?.position ?? cursor;
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

/** Batches of one subscription, until the inbox is full or the signal aborts. Throws when the subscription is lost. */
async function* batchesOf(
  { inbox, missedFirst, serverCursor }: Following,
  { reader, prefixes, after, checkMs, signal }: Watch,
): AsyncGenerator<EventBatch, void> {
  let cursor = after;
  let missed: LogPosition | undefined;
  const begun = performance.now();
  let batch = eventsOf(missedFirst, prefixes);
  while (!signal.aborted) {
    if (batch.length > 0) {
      cursor = batch.at(-1)?.position ?? cursor;
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
        const waiting = await nextOf(reader, prefixes, laterOf(cursor, serverCursor()), signal);
        if (waiting !== undefined && waiting === missed) throw new EventLogUnavailable('a subscription fell silent');
        missed = waiting;
      }
    }
    batch = eventsOf(inbox.take(SUBSCRIPTION_BATCH), prefixes);
  }
}

/** Position of the next event that the subscription should bring; the subscription has until the next check to bring it. */
const nextOf = async (
  reader: Reader,
  prefixes: readonly string[],
  after: LogPosition | null,
  signal: AbortSignal,
): Promise<LogPosition | undefined> =>
  (await readAfter(reader, { prefixes, after, limit: 1 }, signal)).events[0]?.position;
