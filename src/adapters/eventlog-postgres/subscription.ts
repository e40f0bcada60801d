import { createBackoff } from '../../lib/backoff.js';
import { pause } from '../../lib/pause.js';
import { type EventBatch, EventLogSetBack, type Subscription } from '../../ports/event-log.js';
import { START } from './reader.js';
import type { SeenStretch, SharedTail } from './tail.js';

/** Pause between two reads of a quiet log; every read without a new event doubles it. */
const POLL_MS = { first: 25, longest: 250 };
/** Delay after a new append, so that the appends of this time are handed out, and written, together. */
const GATHER_MS = 25;
/** Pause between two tries at a lost server; doubles, with jitter. */
const RETRY_MS = { first: 50, longest: 2_000 };

/** Catch-up and live use the same reads; at the end of the log the next read waits. Ends when the signal aborts. Throws `EventLogSetBack`. */
export async function* subscription(
  { prefixes, after, signal, onInterrupted }: Subscription,
  { readAlone, readNext }: SharedTail,
  appendSignal: WakeSignal,
): AsyncGenerator<EventBatch, void> {
  let cursor = after ?? START;
  let history: number | undefined;
  let poll = POLL_MS.first;
  const retry = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  while (!signal.aborted) {
    const reading = history === undefined ? readAlone(prefixes, cursor) : readNext(prefixes, cursor);
    const read = await readOrAbort(reading, signal);
    if (read.kind === 'aborted') return;
    if (read.kind === 'failed') {
      if (read.error instanceof EventLogSetBack) throw read.error;
      onInterrupted?.(read.error);
      await appendSignal.sleep(appendSignal.count(), retry.next(), signal);
      continue;
    }
    retry.reset();
    const { events, atEnd, seen } = read.stretch;
    // The position that was reached is of a log that has lost its end since.
    if (history !== undefined && read.stretch.history !== history) throw new EventLogSetBack();
    ({ cursor, history } = read.stretch);
    if (events.length > 0) {
      poll = POLL_MS.first;
      yield events;
    }
    if (atEnd) {
      await appendSignal.sleep(seen, poll, signal);
      if (appendSignal.count() === seen) {
        poll = Math.min(poll * 2, POLL_MS.longest);
      } else {
        poll = POLL_MS.first;
        await pause(GATHER_MS, signal);
      }
    }
  }
}

type ReadResult = { kind: 'read'; stretch: SeenStretch } | { kind: 'failed'; error: unknown } | { kind: 'aborted' };

/**
 * Resolves on abort without waiting for a slow server. Each read has its own listener, because a race against one promise that lives as long as the
 * subscription would keep every batch that was ever read.
 */
const readOrAbort = (reading: Promise<SeenStretch>, signal: AbortSignal): Promise<ReadResult> =>
  new Promise((resolve) => {
    const end = (read: ReadResult): void => {
      signal.removeEventListener('abort', onAbort);
      resolve(read);
    };
    const onAbort = (): void => end({ kind: 'aborted' });
    signal.addEventListener('abort', onAbort, { once: true });
    reading.then(
      (stretch) => end({ kind: 'read', stretch }),
      (error: unknown) => end({ kind: 'failed', error }),
    );
  });

type WakeSignal = ReturnType<typeof wakeSignal>;

/** Wakes the sleepers of this process after an append. A wake-up may be needless but is never lost. */
export const wakeSignal = () => {
  const sleepers = new Set<() => void>();
  let raised = 0;
  return {
    /** How often it was raised; to be taken before a look for new events. */
    count: (): number => raised,
    raise: (): void => {
      raised += 1;
      for (const wake of [...sleepers]) wake();
    },
    /** Resolves when it was raised since `count` was taken, after `ms`, or on abort, whichever is first. */
    sleep: (count: number, ms: number, abort: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        if (raised !== count || abort.aborted) return resolve();
        const wake = (): void => {
          clearTimeout(timer);
          sleepers.delete(wake);
          abort.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        sleepers.add(wake);
        abort.addEventListener('abort', wake, { once: true });
      }),
  };
};
