import type { EventBatch, LogPosition, Subscription } from '../../ports/event-log.js';
import { jittered } from '../../waiting/backoff.js';
import { pause } from '../../waiting/pause.js';
import { START, type Stretch } from './reader.js';
import type { WakeSignal } from './wake-signal.js';

export type ReadNext = (prefixes: readonly string[], after: LogPosition) => Promise<Stretch>;

/** Between two looks at a quiet log; every look without news doubles it. */
const POLL_MS = { first: 25, longest: 250 };
/** At most this much later is an append seen; whatever is appended meanwhile is handed out, and written, in one go. */
const GATHER_MS = 25;
/** Between two tries at a lost server; doubles, with jitter. */
const RETRY_MS = { first: 50, longest: 2_000 };

/** Catch-up, then live: the same reading, only that a quiet log is waited for. Ends when the signal aborts. */
export async function* subscription(
  { prefixes, after, signal, onInterrupted }: Subscription,
  readNext: ReadNext,
  news: WakeSignal,
): AsyncGenerator<EventBatch, void> {
  let cursor = after ?? START;
  let poll = POLL_MS.first;
  let retry = RETRY_MS.first;
  while (!signal.aborted) {
    const seen = news.count();
    const look = await attempt(readNext(prefixes, cursor), signal);
    if (look.kind === 'aborted') return;
    if (look.kind === 'failed') {
      onInterrupted?.(look.error);
      await news.sleep(news.count(), jittered(retry), signal);
      retry = Math.min(retry * 2, RETRY_MS.longest);
      continue;
    }
    retry = RETRY_MS.first;
    const { events, upTo, ended } = look.stretch;
    cursor = upTo;
    if (events.length > 0) {
      poll = POLL_MS.first;
      yield events;
    }
    if (ended) {
      await news.sleep(seen, poll, signal);
      if (news.count() === seen) {
        poll = Math.min(poll * 2, POLL_MS.longest);
      } else {
        poll = POLL_MS.first;
        await gather(signal);
      }
    }
  }
}

const gather = (signal: AbortSignal): Promise<void> => pause(GATHER_MS, signal);

type Look = { kind: 'read'; stretch: Stretch } | { kind: 'failed'; error: unknown } | { kind: 'aborted' };

/**
 * An abort does not wait for a slow server. A race against one promise that lives as long as the subscription would
 * keep every batch that was ever read, so each look has a listener of its own.
 */
const attempt = (reading: Promise<Stretch>, signal: AbortSignal): Promise<Look> =>
  new Promise((resolve) => {
    const end = (look: Look): void => {
      signal.removeEventListener('abort', onAbort);
      resolve(look);
    };
    const onAbort = (): void => end({ kind: 'aborted' });
    signal.addEventListener('abort', onAbort, { once: true });
    reading.then(
      (stretch) => end({ kind: 'read', stretch }),
      (error: unknown) => end({ kind: 'failed', error }),
    );
  });
