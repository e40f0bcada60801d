import type pg from 'pg';
import type { Instant } from '../domain/shared/time.js';
import type { EventBatch, EventLog, LogPosition } from '../ports/event-log.js';
import { applyBatch, type BatchOutcome } from './projection-batch.js';
import type { Halt } from './projection-fold.js';
import type { Generation } from './projection-generation.js';

/**
 * As `applyBatch`, but an event that retention has cut from its stream is no reason to halt. A log may still hand it out
 * (EventStoreDB until a scavenge, chunk by chunk) when what stood before it is already gone. The stream's last event,
 * which is never cut, makes the row what it has to be.
 */
export const applyStanding = async (
  { db, log }: { db: pg.Pool; log: EventLog },
  generation: Generation,
  from: LogPosition | null,
  batch: EventBatch,
  now: Instant,
): Promise<BatchOutcome> => {
  let outcome = await applyBatch(db, generation, from, batch, now);
  while (outcome.kind === 'halted') {
    const { halt, position } = outcome;
    if (!(await isCut(log, halt))) return outcome;
    const rest = batch.filter((event) => event.position > halt.position);
    if (rest.length === 0) return { kind: 'applied', position };
    outcome = await applyBatch(db, generation, position, rest, now);
  }
  return outcome;
};

const isCut = async (log: EventLog, { stream, revision }: Halt): Promise<boolean> => {
  const [first] = await log.read(stream, { limit: 1 });
  return first !== undefined && first.revision > revision;
};
