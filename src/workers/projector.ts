import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog } from '../ports/event-log.js';
import { createBackoff, jittered } from '../waiting/backoff.js';
import { pause } from '../waiting/pause.js';
import { isRefusal } from './projection-batch.js';
import { checkLogIdentity, LogIdentityMismatch } from './projection-checkpoint.js';
import { followProjection, type ProjectorDeps, RETRY_MS } from './projection-follow.js';
import { type LeaderSession, leaderSession } from './projection-leader.js';
import { type RebuildOutcome, rebuildProjection } from './projection-rebuild.js';
import { ensureProjection } from './projection-table.js';

export type Projector = ProjectorDeps & {
  projections: readonly Projection[];
  signal: AbortSignal;
  /** The live rows are of an older version than this program's; the new ones are being built beside them, or are live now. */
  onUpgrade?(upgrade: { name: string; version: number; state: 'building' | 'live' }): void;
};

const STAND_BY_MS = 1_000;

/**
 * Keeps every projection up with the log (design section 7). Resolves when the signal aborts or all of them have
 * halted. Engines that are away are waited for, at the start too. Throws `LogIdentityMismatch`, or what the database refuses,
 * when it cannot start. Takes one connection for the leader locks and at most one per projection while it writes, two while
 * it builds.
 */
export const runProjector = async (projector: Projector): Promise<void> => {
  const { db, projections } = projector;
  await prepareOnceThere(projector);
  const session = leaderSession(db);
  try {
    await Promise.all(projections.map((projection) => lead(projection, session, projector)));
  } finally {
    await session.close();
  }
};

/** A database that fails over while a process starts must not leave it without a projector until somebody starts it again. */
const prepareOnceThere = async ({ db, log, clock, projections, signal, onFault }: Projector): Promise<void> => {
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  while (!signal.aborted) {
    try {
      await prepareProjections(db, log, clock, projections);
      return await checkProjectedLog(db, log, projections);
    } catch (error) {
      if (error instanceof LogIdentityMismatch || isRefusal(error)) throw error;
      onFault?.('projector', error);
      await pause(waits.next(), signal);
    }
  }
};

/** Tables, views and checkpoints where there are none yet; every process that reads them calls it at start-up. */
export const prepareProjections = async (
  db: pg.Pool,
  log: EventLog,
  clock: Clock,
  projections: readonly Projection[],
): Promise<void> => {
  const identity = await log.identity();
  for (const projection of projections) await ensureProjection(db, projection, identity, clock.now());
};

/** Throws `LogIdentityMismatch` when rows that are read were made from another log; only a rebuild may then go on. */
export const checkProjectedLog = async (
  db: pg.Pool,
  log: EventLog,
  projections: readonly Projection[],
): Promise<void> => {
  const identity = await log.identity();
  for (const projection of projections) await checkLogIdentity(db, projection, identity);
};

const lead = async (projection: Projection, session: LeaderSession, projector: Projector): Promise<void> => {
  const { signal } = projector;
  const lock = `projector ${projection.name} v${projection.version}`;
  while (!signal.aborted) {
    const lost = await session.tryLead(lock, signal).catch((error: unknown) => {
      projector.onFault?.(projection.name, error);
      return undefined;
    });
    if (lost === undefined) {
      await pause(jittered(STAND_BY_MS), signal);
      continue;
    }
    const leading = AbortSignal.any([signal, lost]);
    let ended = await followProjection(projection, leading, projector);
    if (ended === 'outdated') ended = await upgrade(projection, leading, projector);
    if (ended === 'halted') {
      // A process of a newer version may know the event.
      await session.resign(lock).catch(() => undefined);
      return;
    }
  }
};

/** Builds this program's version beside the older one; a process of the older version may go on with that until the swap. */
const upgrade = async (
  projection: Projection,
  signal: AbortSignal,
  { log, db, clock, onHalt, onFault, onUpgrade }: Projector,
): Promise<'stopped' | 'halted'> => {
  const { name, version } = projection;
  onUpgrade?.({ name, version, state: 'building' });
  const outcome = await rebuildProjection(projection, signal, { log, db, clock }).catch(
    (error: unknown): RebuildOutcome => {
      onFault?.(name, error);
      return { kind: 'stopped' };
    },
  );
  if (outcome.kind === 'halted') {
    onHalt({ name, ...outcome.halt });
    return 'halted';
  }
  if (outcome.kind === 'live') onUpgrade?.({ name, version, state: 'live' });
  else await pause(jittered(STAND_BY_MS), signal);
  return 'stopped';
};
