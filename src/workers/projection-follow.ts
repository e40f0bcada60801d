import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog, LogPosition } from '../ports/event-log.js';
import { createBackoff } from '../waiting/backoff.js';
import { pause } from '../waiting/pause.js';
import { applyStanding } from './projection-apply.js';
import type { Halt } from './projection-fold.js';
import { generationOf, liveStanding } from './projection-generation.js';

/** Place and type are those of the event that cannot be applied; without them it is the rows that are of a newer version. */
export type ProjectionHalt = { name: string; reason: string } & Partial<Halt>;

export type ProjectorDeps = {
  log: EventLog;
  db: pg.Pool;
  clock: Clock;
  /** Called once when the projection cannot go on; it stands still from then on. */
  onHalt(halt: ProjectionHalt): void;
  /** After each commit. */
  onBatch?(batch: { name: string; position: LogPosition | null; events: number }): void;
  /** Told of every fault that is being retried. */
  onFault?(name: string, error: unknown): void;
};

/** Between tries of what the engines refuse or do not answer. */
export const RETRY_MS = { first: 50, longest: 5_000 };

/**
 * Follows the log with the live generation, whichever that is: after a swap the compare-and-set fails, and the next look
 * finds the new one with its own checkpoint. Ends when the signal aborts, when an event cannot be applied or the live
 * rows are of a newer version (`halted`), or when they are of an older one, which is not this program's to move
 * (`outdated`). Faults of the engines are retried.
 */
export const followProjection = async (
  projection: Projection,
  signal: AbortSignal,
  deps: ProjectorDeps,
): Promise<'stopped' | 'halted' | 'outdated'> => {
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  const onBatch: ProjectorDeps['onBatch'] = (batch) => {
    waits.reset();
    deps.onBatch?.(batch);
  };
  while (!signal.aborted) {
    try {
      const ended = await followLive(projection, signal, { ...deps, onBatch });
      if (ended !== 'look again') return ended;
    } catch (error) {
      // Whether the batch was written is read from the checkpoint, never assumed.
      deps.onFault?.(projection.name, error);
      await pause(waits.next(), signal);
    }
  }
  return 'stopped';
};

const followLive = async (
  projection: Projection,
  signal: AbortSignal,
  { log, db, clock, onHalt, onBatch, onFault }: ProjectorDeps,
): Promise<'halted' | 'outdated' | 'look again'> => {
  const { name, version, prefixes } = projection;
  const live = await liveStanding(db, name);
  if (live.version < version) return 'outdated';
  if (live.version > version) {
    onHalt({ name, reason: `its live rows are of version ${live.version}, this program knows ${version}` });
    return 'halted';
  }
  const generation = generationOf(projection, live);
  let { position } = live;
  const onInterrupted = (error: unknown): void => onFault?.(name, error);
  for await (const batch of log.subscribe({ prefixes, after: position, signal, onInterrupted })) {
    const outcome = await applyStanding({ db, log }, generation, position, batch, clock.now());
    if (outcome.kind === 'moved') break;
    position = outcome.position;
    if (outcome.kind === 'halted') {
      onHalt({ name, ...outcome.halt });
      return 'halted';
    }
    onBatch?.({ name, position, events: batch.length });
    if (signal.aborted) break;
  }
  return 'look again';
};
