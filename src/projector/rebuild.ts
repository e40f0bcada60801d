import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import { asLeader, leaderSession } from '../adapters/sql/leader-lock.js';
import { inTransaction } from '../adapters/sql/transaction.js';
import { isPlaceOf } from '../app/event-store/walk-log.js';
import type { Instant } from '../domain/common/time.js';
import { jittered } from '../lib/backoff.js';
import { errorCode } from '../lib/error-code.js';
import { pause } from '../lib/pause.js';
import { type EventLog, isEarlier, type LogPosition, SUBSCRIPTION_BATCH } from '../ports/event-log.js';
import { foldBatch, type Halt } from './batch.js';
import { type CatchUpDeps, catchUp, type ReadState } from './catch-up.js';
import {
  addGenerationRecord,
  type Generation,
  type GenerationRecord,
  generationOf,
  generationRecords,
  moveCheckpoint,
} from './checkpoints.js';
import { saveRows } from './generation-rows.js';
import { changingTables, dropGeneration, makeTable, showInView } from './generation-tables.js';

/** Outcomes of a rebuild. All but `live` leave the live rows unchanged. */
export type RebuildOutcome =
  | { kind: 'live'; version: number; generation: number; position: LogPosition | null; events: number }
  /** Another process is building this projection. */
  | { kind: 'busy' }
  /** The signal aborted, the lock was lost, or the log has lost what was read; the next run continues this build. */
  | { kind: 'stopped' }
  | { kind: 'halted'; halt: Halt }
  /** The live rows are of a newer version than this program makes. */
  | { kind: 'newer'; version: number }
  /** There is no previous generation, or none that this program can bring up to date. */
  | { kind: 'no_previous' }
  | { kind: 'other_version'; version: number }
  | { kind: 'other_log' }
  /** The previous generation holds events that the log has lost. */
  | { kind: 'beyond_log' };

export const buildLock = (name: string): string => `projection build ${name}`;

/** Milliseconds between two attempts to swap while another session holds the locks. */
const SWAP_RETRY_MS = 200;

/**
 * Builds a fresh generation of this program's version beside the live one and swaps when it has caught up; an interrupted build is continued. The
 * live projector keeps running meanwhile. Throws errors of the engines.
 */
export const rebuildProjection = (
  projection: Projection,
  signal: AbortSignal,
  deps: CatchUpDeps,
): Promise<RebuildOutcome> =>
  withBuildLock(projection, signal, deps, async (held) => {
    const live = (await generationRecords(deps.db, projection.name)).find(({ role }) => role === 'live');
    if (live !== undefined && live.version > projection.version) return { kind: 'newer', version: live.version };
    const { generation, position } = await openBuild(projection, deps);
    return await catchUpAndSwap(generation, position, held, deps);
  });

/**
 * Builds a generation from nothing after the log has lost its end, and keeps no other one: each may hold rows of lost events, also at a position that
 * the log has reached again. Throws errors of the engines.
 */
export const remakeProjection = (
  projection: Projection,
  signal: AbortSignal,
  deps: CatchUpDeps,
): Promise<RebuildOutcome> =>
  withBuildLock(projection, signal, deps, async (held) => {
    await dropAllButLive(deps.db, projection);
    const { generation, position } = await openBuild(projection, deps);
    const outcome = await catchUpAndSwap(generation, position, held, deps);
    if (outcome.kind === 'live') await dropAllButLive(deps.db, projection);
    return outcome;
  });

const dropAllButLive = (db: pg.Pool, { name }: Projection): Promise<void> =>
  changingTables(db, async (client) => {
    for (const record of await generationRecords(client, name, 'for update')) {
      if (record.role !== 'live') await dropGeneration(client, record);
    }
  });

/** Brings the previous generation up to date and swaps back to it; the replaced live one is kept. */
export const rollbackProjection = (
  projection: Projection,
  signal: AbortSignal,
  deps: CatchUpDeps,
): Promise<RebuildOutcome> =>
  withBuildLock(projection, signal, deps, async (held) => {
    const previous = (await generationRecords(deps.db, projection.name)).find(({ role }) => role === 'previous');
    if (previous === undefined) return { kind: 'no_previous' };
    if (previous.version !== projection.version) return { kind: 'other_version', version: previous.version };
    if (previous.logIdentity !== (await deps.log.identity())) return { kind: 'other_log' };
    if (!(await isPlaceOf(deps.log, await deps.log.head(), previous.position))) return { kind: 'beyond_log' };
    return await catchUpAndSwap(generationOf(projection, previous), previous.position, held, deps);
  });

/** Allows one build of a projection at a time. The signal that `work` gets also aborts when the lock is lost. */
const withBuildLock = async (
  { name }: Projection,
  signal: AbortSignal,
  { db }: CatchUpDeps,
  work: (held: AbortSignal) => Promise<RebuildOutcome>,
): Promise<RebuildOutcome> => {
  const session = leaderSession(db);
  try {
    const outcome = await asLeader(session, buildLock(name), work, signal);
    return outcome ?? { kind: signal.aborted ? 'stopped' : 'busy' };
  } finally {
    await session.close();
  }
};

const catchUpAndSwap = async (
  generation: Generation,
  position: LogPosition | null,
  signal: AbortSignal,
  deps: CatchUpDeps,
): Promise<RebuildOutcome> => {
  let readState: ReadState = { position, readTo: position };
  let events = 0;
  while (!signal.aborted) {
    const done = events;
    const caught = await catchUp(generation, readState, signal, {
      ...deps,
      onProgress: (progress) => deps.onProgress?.({ ...progress, events: done + progress.events }),
    });
    // Only the holder of the lock moves this checkpoint: if it has moved, the lock was lost, or the log has lost the batch.
    if (caught.kind === 'moved') return { kind: 'stopped' };
    if (caught.kind !== 'caught_up') return caught;
    ({ readState } = caught);
    events += caught.events;
    const swap = await swapIn(deps, generation, readState, deps.clock.now());
    if (swap.kind === 'moved') return { kind: 'stopped' };
    if (swap.kind === 'swapped') {
      const { version, generation: number } = generation;
      return { kind: 'live', version, generation: number, position: swap.position, events };
    }
    ({ readState } = swap);
    await pause(jittered(SWAP_RETRY_MS), signal);
  }
  return { kind: 'stopped' };
};

/** A generation beside the live one, and its checkpoint. */
type Build = { generation: Generation; position: LogPosition | null };

/**
 * Opens the unfinished build of an earlier run if its version and log match and the log reaches its position, otherwise an empty one. The caller must
 * hold the projection's build lock.
 */
const openBuild = async (projection: Projection, { db, log, clock }: CatchUpDeps): Promise<Build> => {
  const [logIdentity, head] = [await log.identity(), await log.head()];
  const canContinue = async (left: GenerationRecord): Promise<boolean> =>
    left.version === projection.version &&
    left.logIdentity === logIdentity &&
    (await isPlaceOf(log, head, left.position));
  return await changingTables(db, async (client) => {
    const all = await generationRecords(client, projection.name);
    const left = all.find(({ role }) => role === 'building');
    if (left !== undefined) {
      if (await canContinue(left)) return { generation: generationOf(projection, left), position: left.position };
      await dropGeneration(client, left);
    }
    const number = Math.max(0, ...all.map(({ generation }) => generation)) + 1;
    const generation: Generation = { ...projection, generation: number, role: 'building' };
    await makeTable(client, generation);
    await addGenerationRecord(client, generation, logIdentity, clock.now());
    return { generation, position: null };
  });
};

type SwapOutcome =
  | { kind: 'swapped'; position: LogPosition | null }
  /** The log has grown too far to be folded under the lock, or another session held the locks: catch up from `readState` and try again. */
  | { kind: 'behind'; readState: ReadState }
  | { kind: 'moved' };

/** At most this many batches are folded while the projector and the operators' commands wait. */
const LAST_BATCHES = 4;
/** Readers queue behind a lock request that waits, so the wait is short. */
const LOCK_WAIT = '500ms';

/**
 * Makes a caught-up generation the live one, in one transaction. The live checkpoint is locked, the rest of the log is folded, then roles and view
 * change. The former live generation becomes `previous`; the former `previous` is dropped unless it is the one that becomes live. Throws errors of
 * the engines: the outcome is then unknown and the roles must be read.
 */
const swapIn = async (
  { db, log }: { db: pg.Pool; log: EventLog },
  generation: Generation,
  readState: ReadState,
  now: Instant,
): Promise<SwapOutcome> => {
  try {
    return await inTransaction(db, async (client) => {
      await client.query(`set local lock_timeout = '${LOCK_WAIT}'`);
      const all = await generationRecords(client, generation.name, 'for update');
      const own = all.find((record) => record.generation === generation.generation);
      if (own?.role !== generation.role || own.position !== readState.position) return { kind: 'moved' };
      const rest = await foldToHead(client, log, generation, readState, now);
      if (!rest.complete) return { kind: 'behind', readState: rest.readState };
      await changeRoles(client, generation, all);
      return { kind: 'swapped', position: rest.readState.position };
    });
  } catch (error) {
    if (isLockTimeout(error)) return { kind: 'behind', readState };
    throw error;
  }
};

/**
 * Folds up to the head of the log as read under the lock. A command that has written its row into the live generation did so earlier, so its event is
 * before this head.
 */
const foldToHead = async (
  client: pg.PoolClient,
  log: EventLog,
  generation: Generation,
  from: ReadState,
  now: Instant,
): Promise<{ readState: ReadState; complete: boolean }> => {
  const head = await log.head();
  let readState = from;
  for (let n = 0; n < LAST_BATCHES; n += 1) {
    if (!isEarlier(readState.readTo, head)) return { readState, complete: true };
    const { prefixes } = generation;
    const batch = await log.readAll({ prefixes, after: readState.readTo, limit: SUBSCRIPTION_BATCH });
    const last = batch.at(-1);
    if (last === undefined) return { readState, complete: true };
    const to = last.position;
    const move = { from: readState.position, to, hash: last.metadata.hash };
    const { changes, halt } = await foldBatch(client, generation, batch);
    // The next catch-up meets the same event and reports the halt.
    if (halt !== undefined || !(await moveCheckpoint(client, generation, move, now))) break;
    await saveRows(client, generation, changes);
    readState = { position: to, readTo: to };
  }
  return { readState, complete: false };
};

const changeRoles = async (
  client: pg.PoolClient,
  generation: Generation,
  all: readonly GenerationRecord[],
): Promise<void> => {
  const replaced = all.find(({ role }) => role === 'previous');
  if (replaced !== undefined && generation.role === 'building') await dropGeneration(client, replaced);
  await client.query(
    `update checkpoints set role = case when generation = $2 then 'live' else 'previous' end
     where name = $1 and (generation = $2 or role = 'live')`,
    [generation.name, generation.generation],
  );
  await showInView(client, generation);
};

const isLockTimeout = (error: unknown): boolean => errorCode(error) === '55P03';
