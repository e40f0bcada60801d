import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import { asLeader, type LeaderSession, leaderSession } from '../adapters/sql/leader-lock.js';
import { createBackoff, jittered } from '../lib/backoff.js';
import { pause } from '../lib/pause.js';
import type { Clock } from '../ports/clock.js';
import { type EventLog, identityIfGiven, isEarlier, type LogPosition, SUBSCRIPTION_BATCH } from '../ports/event-log.js';
import { applyExisting, type Halt, isRefusal } from './batch.js';
import { type GenerationRecord, generationOf, generationRecords, liveGeneration } from './checkpoints.js';
import { ensureProjection } from './generation-tables.js';
import { passOverOthers } from './pass-over.js';
import { type RebuildOutcome, rebuildProjection } from './rebuild.js';

/** Position and type are those of the event that cannot be applied. Without them the live rows are of a newer version. */
export type ProjectionHalt = { name: string; reason: string } & Partial<Halt>;

export type ProjectorDeps = {
  log: EventLog;
  db: pg.Pool;
  clock: Clock;
  /** Called once for each halt. */
  onHalt(halt: ProjectionHalt): void;
  /** Called when a halted projection is mended, by a rebuild, a rollback or a process of a newer version, and this process follows again. */
  onResume?(name: string): void;
  /** After each commit. */
  onBatch?(batch: { name: string; position: LogPosition | null; events: number }): void;
  /** Called for every fault that is retried. */
  onFault?(name: string, error: unknown): void;
  /** Milliseconds between two moves of a quiet checkpoint; tests use short ones. */
  passOverMs?: number;
};

/** After a batch that took all there was, so that under load a row is written once for several of its events (ADR 45). */
const GATHER_MS = 75;

/** Milliseconds between tries when an engine refuses or does not answer. */
const RETRY_MS = { first: 50, longest: 5_000 };

/** `generation`: the rows that were live. `position`: of the event that cannot be applied to them. */
type Halted = { kind: 'halted'; generation: number; position?: LogPosition };
type Outdated = { kind: 'outdated'; generation: number };
type Stopped = { kind: 'stopped' };

/**
 * Follows the log with the live generation. After a swap the compare-and-set fails, and the next round finds the new live generation with its own
 * checkpoint. Ends when the signal aborts, when an event cannot be applied or the live rows are of a newer version (`halted`), or when they are of an
 * older version, which this program must not write (`outdated`). Faults of the engines are retried.
 */
export const followProjection = async (
  projection: Projection,
  signal: AbortSignal,
  deps: ProjectorDeps,
): Promise<Stopped | Outdated | Halted> => {
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  const onBatch: ProjectorDeps['onBatch'] = (batch) => {
    waits.reset();
    deps.onBatch?.(batch);
  };
  while (!signal.aborted) {
    try {
      const ended = await followLive(projection, signal, { ...deps, onBatch });
      if (ended.kind !== 'look again') return ended;
    } catch (error) {
      // The checkpoint tells whether the batch was written.
      deps.onFault?.(projection.name, error);
      await pause(waits.next(), signal);
    }
  }
  return { kind: 'stopped' };
};

const followLive = async (
  projection: Projection,
  signal: AbortSignal,
  { log, db, clock, onHalt, onBatch, onFault, passOverMs }: ProjectorDeps,
): Promise<{ kind: 'look again' } | Outdated | Halted> => {
  const { name, version, prefixes } = projection;
  const live = await liveGeneration(db, name);
  const halted: Halted = { kind: 'halted', generation: live.generation };
  if (live.version < version) return { kind: 'outdated', generation: live.generation };
  if (live.version > version) {
    onHalt({ name, reason: `its live rows are of version ${live.version}, this program knows ${version}` });
    return halted;
  }
  const generation = generationOf(projection, live);
  let { position } = live;
  const onInterrupted = (error: unknown): void => onFault?.(name, error);
  const ended = new AbortController();
  // A batch that is written at the same moment fails its compare-and-set, or makes this one fail; then the checkpoint is read again.
  // Not waited for at the end, because a server that is silent would delay the stop.
  void passOverOthers(generation, {
    log,
    db,
    clock,
    everyMs: passOverMs,
    onFault: onInterrupted,
    signal: AbortSignal.any([signal, ended.signal]),
    position: () => position,
    onMoved: (to) => {
      position = to;
    },
  });
  try {
    for await (const batch of log.subscribe({ prefixes, after: position, signal, onInterrupted })) {
      const outcome = await applyExisting({ db, log }, generation, position, batch, clock.now());
      if (outcome.kind === 'moved') {
        // While connections lead to two servers, the stored checkpoint may stay as it was.
        await pause(GATHER_MS, signal);
        break;
      }
      position = outcome.position;
      if (outcome.kind === 'halted') {
        onHalt({ name, ...outcome.halt });
        return { ...halted, position: outcome.halt.position };
      }
      onBatch?.({ name, position, events: batch.length });
      if (batch.length < SUBSCRIPTION_BATCH) await pause(GATHER_MS, signal);
      if (signal.aborted) break;
    }
  } finally {
    ended.abort();
  }
  return { kind: 'look again' };
};

type Projector = ProjectorDeps & {
  projections: readonly Projection[];
  signal: AbortSignal;
  /** The live rows are of an older version than this program's. `building`: the new rows are being built beside them; `live`: the swap is done. */
  onUpgrade?(upgrade: { name: string; version: number; state: 'building' | 'live' }): void;
};

const STAND_BY_MS = 1_000;

/**
 * Keeps every projection up with the log until the signal aborts. A projection that halted waits until it is mended. Waits for engines that are
 * unreachable, also at the start. Throws `LogIdentityMismatch`, or the error of a database that refuses, when it cannot start. Takes one connection
 * for the leader locks and at most one per projection while it writes, two while it builds.
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

/** A database that fails over while a process starts must not leave that process without a projector until its next start. */
const prepareOnceThere = async ({ db, log, clock, projections, signal, onFault }: Projector): Promise<void> => {
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  while (!signal.aborted) {
    try {
      await checkProjectedLog(db, log, projections);
      return await prepareProjections(db, log, clock, projections);
    } catch (error) {
      if (error instanceof LogIdentityMismatch || isRefusal(error)) throw error;
      onFault?.('projector', error);
      await pause(waits.next(), signal);
    }
  }
};

/** The live generations of these projections that are there. */
const liveOnes = async (db: pg.Pool, projections: readonly Projection[]): Promise<readonly GenerationRecord[]> =>
  (await generationRecords(db)).filter(
    ({ name, role }) => role === 'live' && projections.some((projection) => projection.name === name),
  );

/** Creates missing tables, views and checkpoints; every process that reads them calls this at start-up. */
export const prepareProjections = async (
  db: pg.Pool,
  log: EventLog,
  clock: Clock,
  projections: readonly Projection[],
): Promise<void> => {
  const live = new Set((await liveOnes(db, projections)).map(({ name }) => name));
  const missing = projections.filter(({ name }) => !live.has(name));
  // The question would give an identity to an empty log that is at the address by mistake.
  if (missing.length === 0) return;
  const identity = await log.identity();
  for (const projection of missing) await ensureProjection(db, projection, identity, clock.now());
};

/** Thrown at start-up: the rows were made from a log other than the configured one. Nothing was changed. */
export class LogIdentityMismatch extends Error {
  override readonly name = 'LogIdentityMismatch';
}

/** Throws `LogIdentityMismatch` when live rows were made from another log. Writes nothing into an empty log. */
export const checkProjectedLog = async (
  db: pg.Pool,
  log: EventLog,
  projections: readonly Projection[],
): Promise<void> => {
  const live = await liveOnes(db, projections);
  if (live.length === 0) return;
  const identity = await identityIfGiven(log);
  for (const { name, logIdentity } of live) {
    if (logIdentity === identity) continue;
    throw new LogIdentityMismatch(
      `projection ${name} was built from log ${logIdentity}, but ${otherLogText(identity)}`,
    );
  }
};

/** What is at the address of the log. Events of another program have no identity either, so a log without one is not called empty. */
export const logText = (identity: string | undefined): string =>
  identity === undefined
    ? 'the log at the address of the event log has no identity of this product'
    : `the log is ${identity}`;

/** What is at the address of the log in place of the log that the database was made from, and what to read before anything is done about it. */
export const otherLogText = (identity: string | undefined): string =>
  `${logText(identity)}: put the right log in its place (docs/operations/lost-database.md); if the database is to follow this log from now on, see docs/operations/rebuild.md#another-log`;

const lead = async (projection: Projection, session: LeaderSession, projector: Projector): Promise<void> => {
  const { signal } = projector;
  const { name } = projection;
  const lock = `projector ${name} v${projection.version}`;
  const follow = async (leading: AbortSignal): Promise<Stopped | Halted> => {
    const ended = await followProjection(projection, leading, projector);
    return ended.kind === 'outdated' ? await upgrade(projection, ended.generation, leading, projector) : ended;
  };
  while (!signal.aborted) {
    const ended = await asLeader(session, lock, follow, signal).catch((error: unknown) => {
      projector.onFault?.(name, error);
      return undefined;
    });
    if (ended?.kind === 'halted') {
      // After a halt this process no longer leads, because a process of a newer version may know the event.
      await untilMended(name, ended, projector);
      if (!signal.aborted) projector.onResume?.(name);
    }
    if (ended === undefined) await pause(jittered(STAND_BY_MS), signal);
  }
};

/**
 * Waits until other rows are live, or a process of a newer version has applied the event to the same rows. This process does not try these again,
 * because it cannot apply the event later either.
 */
const untilMended = async (
  name: string,
  { generation, position }: Halted,
  { db, signal, onFault }: Projector,
): Promise<void> => {
  while (!signal.aborted) {
    await pause(jittered(STAND_BY_MS), signal);
    if (signal.aborted) return;
    const live = await liveGeneration(db, name).catch((error: unknown) => {
      onFault?.(name, error);
      return undefined;
    });
    if (live === undefined) continue;
    const isApplied = position !== undefined && !isEarlier(live.position, position);
    if (live.generation !== generation || isApplied) return;
  }
};

/** Builds this program's version beside the older one. A process of the older version may keep following its rows until the swap. */
const upgrade = async (
  projection: Projection,
  generation: number,
  signal: AbortSignal,
  { log, db, clock, onHalt, onFault, onUpgrade }: Projector,
): Promise<Stopped | Halted> => {
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
    return { kind: 'halted', generation };
  }
  if (outcome.kind === 'live') onUpgrade?.({ name, version, state: 'live' });
  else await pause(jittered(STAND_BY_MS), signal);
  return { kind: 'stopped' };
};
