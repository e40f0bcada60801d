import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog } from '../ports/event-log.js';
import { openCheckpoint } from './projection-checkpoint.js';
import { followProjection, type ProjectorDeps, pause } from './projection-follow.js';
import { type LeaderSession, leaderSession } from './projection-leader.js';
import { ensureProjection } from './projection-table.js';

export type Projector = ProjectorDeps & { projections: readonly Projection[]; signal: AbortSignal };

const STAND_BY_MS = 1_000;

/**
 * Keeps every projection up with the log (design section 7). Resolves when the signal aborts or all of them have
 * halted. Throws `LogIdentityMismatch`, or what the engines say, when it cannot start. Takes one connection for the
 * leader locks and at most one per projection while it writes.
 */
export const runProjector = async (projector: Projector): Promise<void> => {
  const { db, log, clock, projections, signal } = projector;
  await prepareProjections(db, log, clock, projections);
  const session = leaderSession(db);
  try {
    await Promise.all(projections.map((projection) => lead(projection, session, signal, projector)));
  } finally {
    await session.close();
  }
};

/** Tables, views and checkpoints; every process that reads them calls it at start-up. Throws `LogIdentityMismatch`. */
export const prepareProjections = async (
  db: pg.Pool,
  log: EventLog,
  clock: Clock,
  projections: readonly Projection[],
): Promise<void> => {
  const identity = await log.identity();
  for (const projection of projections) {
    await ensureProjection(db, projection);
    await openCheckpoint(db, projection, identity, clock.now());
  }
};

const lead = async (
  projection: Projection,
  session: LeaderSession,
  signal: AbortSignal,
  deps: ProjectorDeps,
): Promise<void> => {
  const lock = `projector ${projection.name} v${projection.version}`;
  while (!signal.aborted) {
    const lost = await session.tryLead(lock).catch((error: unknown) => {
      deps.onFault?.(projection.name, error);
      return undefined;
    });
    if (lost === undefined) {
      await pause(STAND_BY_MS, signal);
      continue;
    }
    if ((await followProjection(projection, AbortSignal.any([signal, lost]), deps)) === 'halted') {
      // A process of a newer version may know the event.
      await session.resign(lock).catch(() => undefined);
      return;
    }
  }
};
