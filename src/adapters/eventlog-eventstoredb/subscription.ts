import {
  type EventBatch,
  EventLogUnavailable,
  type LogPosition,
  SUBSCRIPTION_BATCH,
  type Subscription,
} from '../../ports/event-log.js';
import { createBackoff } from '../../waiting/backoff.js';
import { pause } from '../../waiting/pause.js';
import type { Beginnings } from './beginnings.js';
import type { Reader } from './read.js';
import { eventsOf, type Following, follow, readBehind } from './whole-log.js';

/** Between two tries at a lost server; doubles, with jitter. */
const RETRY_MS = { first: 50, longest: 2_000 };

export type Supervision = {
  reader: Reader;
  beginnings: Beginnings;
  /** A subscription that brings nothing for so long is compared with the log. */
  checkMs: number;
  /** Aborts when the log is closed. */
  closing: AbortSignal;
};

/**
 * Catch-up, then live. The client's subscription ends for good when its connection does, and may fall silent on one that
 * lives: whatever happens to it, a new one goes on behind the last event that was handed out. Ends when the signal aborts.
 */
export async function* supervised(
  { reader, beginnings, checkMs, closing }: Supervision,
  { prefixes, after, signal: own, onInterrupted }: Subscription,
): AsyncGenerator<EventBatch, void> {
  const signal = AbortSignal.any([own, closing]);
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  let cursor = after;
  while (!signal.aborted) {
    let following: Following | undefined;
    try {
      following = await follow(reader, prefixes, cursor);
      for await (const batch of batchesOf(following, { reader, prefixes, after: cursor, checkMs, signal })) {
        waits.reset();
        const shown = await beginnings(batch);
        if (signal.aborted) return;
        if (shown.length > 0) yield shown;
        cursor = batch[batch.length - 1]?.position ?? cursor;
      }
    } catch (error) {
      if (signal.aborted) return;
      onInterrupted?.(error);
      await pause(waits.next(), signal);
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

/** Of one subscription, until it is lost, which throws, or until the signal aborts. */
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
): Promise<LogPosition | undefined> => (await readBehind(reader, { prefixes, after, limit: 1 }, signal))[0]?.position;

const laterOf = (a: LogPosition | null, b: LogPosition | null): LogPosition | null =>
  a === null || (b !== null && b > a) ? b : a;
