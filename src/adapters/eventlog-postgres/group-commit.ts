import { AppendOutcomeUnknown, type AppendResult, EventLogUnavailable } from '../../ports/event-log.js';
import type { PreparedAppend } from './prepared-append.js';

/**
 * Writes appends in one round trip and answers each in order. Calls `onSent` just before the first byte leaves; gives
 * up, and drops its connection, when the signal aborts.
 */
export type SendAppends = (
  appends: readonly PreparedAppend[],
  onSent: () => void,
  signal: AbortSignal,
) => Promise<readonly AppendResult[]>;

export type GroupCommit = {
  /** Throws `EventLogUnavailable` (not stored), `AppendOutcomeUnknown`, or what the server refused the append with. */
  append(append: PreparedAppend): Promise<AppendResult>;
  /** Refuses new appends and resolves when those under way have their answer. */
  close(): Promise<void>;
};

/** One commit carries at most this many appends and about this many bytes. */
const MAX_APPENDS = 64;
const MAX_BYTES = 1024 * 1024;

type Waiting = {
  append: PreparedAppend;
  batch: AbortController | undefined;
  resolve(result: AppendResult): void;
  reject(error: unknown): void;
};

/**
 * While one batch is being written the next one gathers: the cost of a durable commit and of the append lock is shared
 * by everybody who waits. `deadlineMs` counts from the call of `append`.
 */
export const groupCommit = (send: SendAppends, deadlineMs: number): GroupCommit => {
  const queue: Waiting[] = [];
  let pumping: Promise<void> | undefined;
  let closed = false;

  const expire = (waiting: Waiting): void => {
    const place = queue.indexOf(waiting);
    if (place >= 0) {
      queue.splice(place, 1);
      waiting.reject(new EventLogUnavailable('the event log did not take the append in time'));
    }
    waiting.batch?.abort();
  };

  const append = (prepared: PreparedAppend): Promise<AppendResult> =>
    new Promise<AppendResult>((resolve, reject) => {
      if (closed) throw new EventLogUnavailable('the event log is closed');
      const waiting: Waiting = { append: prepared, batch: undefined, resolve, reject };
      const timer = setTimeout(() => expire(waiting), deadlineMs);
      waiting.resolve = (result) => {
        clearTimeout(timer);
        resolve(result);
      };
      waiting.reject = (error) => {
        clearTimeout(timer);
        reject(error);
      };
      queue.push(waiting);
      pumping ??= pump();
    });

  const pump = async (): Promise<void> => {
    do {
      // Lets those whose answers just arrived, and everybody of this turn of the loop, join the batch.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = takeBatch(queue);
      if (batch.length > 0) await write(batch, send);
    } while (queue.length > 0);
    // In the same turn as the last look at the queue: whoever comes later starts the pump again.
    pumping = undefined;
  };

  const close = async (): Promise<void> => {
    closed = true;
    await pumping;
  };

  return { append, close };
};

const takeBatch = (queue: Waiting[]): Waiting[] => {
  let bytes = 0;
  let count = 0;
  for (const { append } of queue) {
    bytes += append.bytes;
    if (count === MAX_APPENDS || (count > 0 && bytes > MAX_BYTES)) break;
    count += 1;
  }
  return queue.splice(0, count);
};

const write = async (batch: readonly Waiting[], send: SendAppends): Promise<void> => {
  const controller = new AbortController();
  for (const waiting of batch) waiting.batch = controller;
  let sent = false;
  try {
    const results = await send(
      batch.map(({ append }) => append),
      () => {
        sent = true;
      },
      controller.signal,
    );
    batch.forEach((waiting, index) => {
      const result = results[index];
      if (result === undefined) waiting.reject(new AppendOutcomeUnknown('the event log gave no answer to the append'));
      else waiting.resolve(result);
    });
  } catch (error) {
    await fail(batch, error, sent, send);
  }
};

/** A refusal may be the fault of one append of the batch; the others must not suffer from it. */
const fail = async (batch: readonly Waiting[], error: unknown, sent: boolean, send: SendAppends): Promise<void> => {
  const settled = error instanceof EventLogUnavailable || error instanceof AppendOutcomeUnknown;
  if (!settled && sent && batch.length > 1) {
    for (const waiting of batch) await write([waiting], send);
    return;
  }
  for (const waiting of batch) waiting.reject(error);
};
