import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog, LogPosition } from '../ports/event-log.js';
import { applyBatch } from './projection-batch.js';
import { readCheckpoint } from './projection-checkpoint.js';
import type { Halt } from './projection-fold.js';

export type ProjectionHalt = Halt & { name: string };

export type ProjectorDeps = {
  log: EventLog;
  db: pg.Pool;
  clock: Clock;
  /** Called once when an event cannot be applied; the projection stands still from then on. */
  onHalt(halt: ProjectionHalt): void;
  /** After each commit. */
  onBatch?(batch: { name: string; position: LogPosition | null; events: number }): void;
  /** Told of every fault that is being retried. */
  onFault?(name: string, error: unknown): void;
};

const RETRY_MS = { first: 50, longest: 5_000 };

/** Follows the log from the checkpoint until the signal aborts or an event cannot be applied; faults of the engines are retried. */
export const followProjection = async (
  projection: Projection,
  signal: AbortSignal,
  { log, db, clock, onHalt, onBatch, onFault }: ProjectorDeps,
): Promise<'stopped' | 'halted'> => {
  const { name, prefixes } = projection;
  let faults = 0;
  while (!signal.aborted) {
    try {
      let position = await readCheckpoint(db, projection);
      const onInterrupted = (error: unknown): void => onFault?.(name, error);
      for await (const batch of log.subscribe({ prefixes, after: position, signal, onInterrupted })) {
        const outcome = await applyBatch(db, projection, position, batch, clock.now());
        faults = 0;
        if (outcome.kind === 'moved') break;
        position = outcome.position;
        if (outcome.kind === 'halted') {
          onHalt({ name, ...outcome.halt });
          return 'halted';
        }
        onBatch?.({ name, position, events: batch.length });
        if (signal.aborted) break;
      }
    } catch (error) {
      // Whether the batch was written is read from the checkpoint, never assumed.
      faults += 1;
      onFault?.(name, error);
      await pause(Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** Math.min(faults - 1, 10)), signal);
    }
  }
  return 'stopped';
};

/** Half to full: many loops whose server comes back do not arrive at once. Ends early, without an error, when the signal aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
