import type pg from 'pg';
import type { Clock } from '../ports/clock.js';
import { type EventBatch, type EventLog, isEarlier, type LogPosition, SUBSCRIPTION_BATCH } from '../ports/event-log.js';
import { applyExisting, type Halt } from './batch.js';
import type { Generation } from './checkpoints.js';

/** `head` is the head of the whole log when the batch was read. Positions are not counts, but their ratio shows the progress. */
export type Progress = {
  name: string;
  version: number;
  generation: number;
  position: LogPosition | null;
  head: LogPosition | null;
  /** Events handled since this run began. */
  events: number;
};

export type CatchUpDeps = {
  log: EventLog;
  db: pg.Pool;
  clock: Clock;
  onProgress?(progress: Progress): void;
};

/** The checkpoint of a generation, and the position up to which the log is known to hold no further event for the projection. */
export type ReadState = { position: LogPosition | null; readTo: LogPosition | null };

type CaughtUp =
  | { kind: 'caught_up'; readState: ReadState; events: number }
  | { kind: 'moved' }
  | { kind: 'stopped' }
  | { kind: 'halted'; halt: Halt };

/**
 * Folds all events after `from`, batch by batch, until the log holds no more; the next batch is read while the current one is written. Throws errors
 * of the engines; batches that were written stay.
 */
export const catchUp = async (
  generation: Generation,
  from: ReadState,
  signal: AbortSignal,
  { log, db, clock, onProgress }: CatchUpDeps,
): Promise<CaughtUp> => {
  let { position } = from;
  let events = 0;
  for await (const { batch, head, upTo } of batches(log, generation.prefixes, from.readTo)) {
    if (signal.aborted) return { kind: 'stopped' };
    if (batch.length === 0) return { kind: 'caught_up', readState: { position, readTo: upTo }, events };
    const outcome = await applyExisting({ db, log }, generation, position, batch, clock.now());
    if (outcome.kind !== 'applied') return outcome;
    ({ position } = outcome);
    events += batch.length;
    const { name, version, generation: number } = generation;
    onProgress?.({ name, version, generation: number, position, head, events });
  }
  return { kind: 'stopped' };
};

type ReadBatch = { batch: EventBatch; head: LogPosition | null; upTo: LogPosition | null };

/** Yields batches, the last one empty. One batch is read ahead; its error is thrown when the consumer reaches it. */
async function* batches(
  log: EventLog,
  prefixes: readonly string[],
  after: LogPosition | null,
): AsyncGenerator<ReadBatch, void, void> {
  let next = readBatch(log, prefixes, after);
  for (;;) {
    const read = await next;
    if (read.batch.length > 0) {
      next = readBatch(log, prefixes, read.upTo);
      // A consumer that stops early never awaits this batch, so its failure must not become an unhandled rejection.
      next.catch(() => undefined);
    }
    yield read;
    if (read.batch.length === 0) return;
  }
}

const readBatch = async (log: EventLog, prefixes: readonly string[], after: LogPosition | null): Promise<ReadBatch> => {
  // The head is read first: an empty batch then proves that nothing follows up to this head.
  const head = await log.head();
  const batch = await log.readAll({ prefixes, after, limit: SUBSCRIPTION_BATCH });
  return { batch, head, upTo: batch.at(-1)?.position ?? (isEarlier(after, head) ? head : after) };
};
