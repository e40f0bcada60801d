import type { Projection } from '../../projections/types.js';
import type { LogPosition } from '../ports/event-log.js';
import { jittered } from '../waiting/backoff.js';
import { pause } from '../waiting/pause.js';
import { openBuild } from './projection-build.js';
import { type CatchUpDeps, catchUp, type Place } from './projection-catch-up.js';
import type { Halt } from './projection-fold.js';
import { type Generation, generationOf, type Standing, standings } from './projection-generation.js';
import { type LeaderSession, leaderSession } from './projection-leader.js';
import { swapIn } from './projection-swap.js';

/** A rebuild refuses or ends early with the live rows as they were. */
export type RebuildOutcome =
  | { kind: 'live'; version: number; generation: number; position: LogPosition | null; events: number }
  /** Another process builds this projection. */
  | { kind: 'busy' }
  /** The signal aborted or the lock was lost; the next run goes on from here. */
  | { kind: 'stopped' }
  | { kind: 'halted'; halt: Halt }
  /** The live rows are of a newer version than this program makes. */
  | { kind: 'newer'; version: number }
  /** Nothing to go back to, or nothing that this program could bring up to date. */
  | { kind: 'no_previous' }
  | { kind: 'other_version'; version: number }
  | { kind: 'other_log' };

export const buildLock = (name: string): string => `projection build ${name}`;

/** Between two tries to swap while somebody holds the locks. */
const SWAP_RETRY_MS = 200;

/**
 * Builds a fresh generation of this program's version beside the live one and swaps when it has caught up (design
 * section 7); a build that was interrupted is gone on with. The live projector goes on meanwhile, here or elsewhere.
 * Throws what the engines say.
 */
export const rebuildProjection = (
  projection: Projection,
  signal: AbortSignal,
  deps: CatchUpDeps,
): Promise<RebuildOutcome> =>
  alone(projection, signal, deps, async (held) => {
    const { db, log, clock } = deps;
    const live = (await standings(db, projection.name)).find(({ role }) => role === 'live');
    if (live !== undefined && live.version > projection.version) return { kind: 'newer', version: live.version };
    const { generation, standing } = await openBuild(db, projection, await log.identity(), clock.now());
    return await bringIn(generation, standing, held, deps);
  });

/** Brings the generation before the live one up to date and swaps back to it; the one that was live is kept. */
export const rollbackProjection = (
  projection: Projection,
  signal: AbortSignal,
  deps: CatchUpDeps,
): Promise<RebuildOutcome> =>
  alone(projection, signal, deps, async (held) => {
    const previous = (await standings(deps.db, projection.name)).find(({ role }) => role === 'previous');
    if (previous === undefined) return { kind: 'no_previous' };
    if (previous.version !== projection.version) return { kind: 'other_version', version: previous.version };
    if (previous.logIdentity !== (await deps.log.identity())) return { kind: 'other_log' };
    return await bringIn(generationOf(projection, previous), previous, held, deps);
  });

/** One build of a projection at a time; the signal that the work gets also aborts when the lock is lost. */
const alone = async (
  { name }: Projection,
  signal: AbortSignal,
  { db }: CatchUpDeps,
  work: (held: AbortSignal) => Promise<RebuildOutcome>,
): Promise<RebuildOutcome> => {
  const session: LeaderSession = leaderSession(db);
  try {
    const lost = await session.tryLead(buildLock(name));
    if (lost === undefined) return { kind: 'busy' };
    const outcome = await work(AbortSignal.any([signal, lost]));
    // Closing alone frees the lock a moment later, and whoever comes next would be turned away.
    await session.resign(buildLock(name)).catch(() => undefined);
    return outcome;
  } finally {
    await session.close();
  }
};

const bringIn = async (
  generation: Generation,
  { position }: Standing,
  signal: AbortSignal,
  deps: CatchUpDeps,
): Promise<RebuildOutcome> => {
  let place: Place = { position, lookedTo: position };
  let events = 0;
  while (!signal.aborted) {
    const done = events;
    const caught = await catchUp(generation, place, signal, {
      ...deps,
      onProgress: (progress) => deps.onProgress?.({ ...progress, events: done + progress.events }),
    });
    // Only the lock's holder moves this checkpoint: a look that finds it moved has lost the lock.
    if (caught.kind === 'moved') return { kind: 'stopped' };
    if (caught.kind !== 'caught_up') return caught;
    ({ place } = caught);
    events += caught.events;
    const swap = await swapIn(deps, generation, place, deps.clock.now());
    if (swap.kind === 'moved') return { kind: 'stopped' };
    if (swap.kind === 'swapped') {
      const { version, generation: number } = generation;
      return { kind: 'live', version, generation: number, position: swap.position, events };
    }
    ({ place } = swap);
    await pause(jittered(SWAP_RETRY_MS), signal);
  }
  return { kind: 'stopped' };
};
