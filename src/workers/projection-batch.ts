import type pg from 'pg';
import type { Instant } from '../domain/shared/time.js';
import type { EventBatch, LogPosition } from '../ports/event-log.js';
import { moveCheckpoint, standsAt } from './projection-checkpoint.js';
import { type Folded, foldSteps, type Halt, haltAt, planBatch } from './projection-fold.js';
import type { Generation, Queryable } from './projection-generation.js';
import { loadRows, saveRows } from './projection-rows.js';
import { inTransaction } from './projection-table.js';

/** Between two statements of one batch lie milliseconds. */
const FROZEN_AFTER_MS = 5_000;

/** `position` is where the checkpoint stands afterwards. */
export type BatchOutcome =
  | { kind: 'applied'; position: LogPosition | null }
  /** Somebody else moved the checkpoint, or the generation is not what it was: nothing was written. */
  | { kind: 'moved' }
  /** Everything before the culprit was written; the checkpoint is not past it. */
  | { kind: 'halted'; position: LogPosition | null; halt: Halt };

/**
 * Folds a batch in memory, then writes rows and checkpoint in one transaction. `from` is the checkpoint that the batch
 * follows. Throws what PostgreSQL says of itself (not of the rows): then nobody knows, and the checkpoint must be read.
 */
export const applyBatch = async (
  db: pg.Pool,
  generation: Generation,
  from: LogPosition | null,
  batch: EventBatch,
  now: Instant,
): Promise<BatchOutcome> => {
  try {
    return await applyAtOnce(db, generation, from, batch, now);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // The table of a generation that was replaced twice meanwhile is gone: no fault of the event.
    if (!(await standsAt(db, generation, from))) return { kind: 'moved' };
    const [first] = batch;
    if (first === undefined || batch.length > 1) return await applyOneByOne(db, generation, from, batch, now);
    return { kind: 'halted', position: from, halt: haltAt(first, error) };
  }
};

/** What a batch makes of the rows as they stand; nothing is written. */
export const foldBatch = async (db: Queryable, generation: Generation, batch: EventBatch): Promise<Folded> => {
  const planned = planBatch(generation, batch);
  const rows = await loadRows(db, generation, [...new Set(planned.steps.map(({ key }) => key))]);
  const folded = foldSteps(generation, planned.steps, rows);
  const halt = folded.halt ?? planned.halt;
  return halt === undefined ? folded : { ...folded, halt };
};

const applyAtOnce = async (
  db: pg.Pool,
  generation: Generation,
  from: LogPosition | null,
  batch: EventBatch,
  now: Instant,
): Promise<BatchOutcome> => {
  const { changes, halt } = await foldBatch(db, generation, batch);
  const good = halt === undefined ? batch : batch.filter(({ position }) => position < halt.position);
  const to = good[good.length - 1]?.position ?? from;
  if (to !== null && to !== from) {
    const moved = await inTransaction(db, async (client) => {
      // The log has it all: a commit that a power cut takes back is replayed, rows and checkpoint together. A leader that is
      // frozen here must not hold the checkpoint for longer than it holds its lease.
      await client.query(
        `set local synchronous_commit = off; set local idle_in_transaction_session_timeout = ${FROZEN_AFTER_MS}`,
      );
      if (!(await moveCheckpoint(client, generation, from, to, now))) return false;
      await saveRows(client, generation, changes);
      return true;
    });
    if (!moved) return { kind: 'moved' };
  }
  return halt === undefined ? { kind: 'applied', position: to } : { kind: 'halted', position: to, halt };
};

/** Finds the event whose row PostgreSQL refuses. */
const applyOneByOne = async (
  db: pg.Pool,
  generation: Generation,
  from: LogPosition | null,
  batch: EventBatch,
  now: Instant,
): Promise<BatchOutcome> => {
  let position = from;
  for (const event of batch) {
    const outcome = await applyBatch(db, generation, position, [event], now);
    if (outcome.kind !== 'applied') return outcome;
    position = outcome.position;
  }
  return { kind: 'applied', position };
};

/** SQLSTATE classes data exception, integrity violation, syntax or undefined object: a retry would end the same. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(22|23|42)[0-9A-Z]{3}$/.test(error.code);
