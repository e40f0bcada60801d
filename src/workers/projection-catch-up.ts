import type pg from 'pg';
import type { Clock } from '../ports/clock.js';
import { type EventBatch, type EventLog, type LogPosition, SUBSCRIPTION_BATCH } from '../ports/event-log.js';
import { applyStanding } from './projection-apply.js';
import type { Halt } from './projection-fold.js';
import type { Generation } from './projection-generation.js';

/** `head` is that of the whole log when the batch was read; positions are no counts, but their ratio shows how far it is. */
export type Progress = {
  name: string;
  version: number;
  generation: number;
  position: LogPosition | null;
  head: LogPosition | null;
  /** Handled since this run began. */
  events: number;
};

export type CatchUpDeps = {
  log: EventLog;
  db: pg.Pool;
  clock: Clock;
  onProgress?(progress: Progress): void;
};

/** Where a generation stands, and up to where the log is known to hold nothing more for it. */
export type Place = { position: LogPosition | null; lookedTo: LogPosition | null };

export type CaughtUp =
  | { kind: 'caught_up'; place: Place; events: number }
  | { kind: 'moved' }
  | { kind: 'stopped' }
  | { kind: 'halted'; halt: Halt };

/**
 * Folds what the log holds behind the place, batch by batch, until it holds nothing more; the next batch is read while
 * one is written. Throws what the engines say: every batch that was written stays.
 */
export const catchUp = async (
  generation: Generation,
  from: Place,
  signal: AbortSignal,
  { log, db, clock, onProgress }: CatchUpDeps,
): Promise<CaughtUp> => {
  let { position } = from;
  let events = 0;
  for await (const { batch, head, upTo } of batches(log, generation.prefixes, from.lookedTo)) {
    if (signal.aborted) return { kind: 'stopped' };
    if (batch.length === 0) return { kind: 'caught_up', place: { position, lookedTo: upTo }, events };
    const outcome = await applyStanding({ db, log }, generation, position, batch, clock.now());
    if (outcome.kind !== 'applied') return outcome;
    ({ position } = outcome);
    events += batch.length;
    const { name, version, generation: number } = generation;
    onProgress?.({ name, version, generation: number, position, head, events });
  }
  return { kind: 'stopped' };
};

type Stretch = { batch: EventBatch; head: LogPosition | null; upTo: LogPosition | null };

/** The last one is empty. One is always read ahead, and what happens to it is told when its turn comes. */
async function* batches(
  log: EventLog,
  prefixes: readonly string[],
  after: LogPosition | null,
): AsyncGenerator<Stretch, void, void> {
  let next = readAhead(log, prefixes, after);
  for (;;) {
    const stretch = await next;
    if (stretch.batch.length > 0) next = readAhead(log, prefixes, stretch.upTo);
    yield stretch;
    if (stretch.batch.length === 0) return;
  }
}

const readAhead = (log: EventLog, prefixes: readonly string[], after: LogPosition | null): Promise<Stretch> => {
  const reading = readStretch(log, prefixes, after);
  reading.catch(() => undefined);
  return reading;
};

const readStretch = async (log: EventLog, prefixes: readonly string[], after: LogPosition | null): Promise<Stretch> => {
  // Before the read: an empty answer then speaks for everything up to this head.
  const head = await log.head();
  const batch = await log.readAll({ prefixes, after, limit: SUBSCRIPTION_BATCH });
  return { batch, head, upTo: batch[batch.length - 1]?.position ?? laterOf(after, head) };
};

const laterOf = (a: LogPosition | null, b: LogPosition | null): LogPosition | null =>
  a === null || (b !== null && b > a) ? b : a;
