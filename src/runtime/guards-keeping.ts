import { setTimeout as pause } from 'node:timers/promises';
import { operatorProjections } from '../../projections/registry.js';
import { guardsRecord } from '../adapters/guards-postgres/guards-record.js';
import { isPaused } from '../adapters/guards-postgres/set-back.js';
import { openPool } from '../adapters/sql/pool.js';
import { placeBefore } from '../app/anchors/place-before.js';
import { unreachable } from '../domain/shared/unreachable.js';
import { type EventLog, isEarlier, type LogPosition } from '../ports/event-log.js';
import { pause as pauseFor } from '../waiting/pause.js';
import { type GuardsStanding, runGuardsKeeper } from '../workers/guards-keeper.js';
import { readCheckpoint } from '../workers/projection-checkpoint.js';
import { shareOf } from '../workers/projection-status.js';
import type { Engines } from './engines.js';
import { createGuardsStanding, type GuardsKeeping } from './guards-standing.js';
import { faultFields } from './logger.js';
import type { Runner } from './runner.js';
import type { ServiceOptions } from './service.js';

/** A database that keeps the log too has one write-ahead log for both: no event stands without its guards. */
const inOneDatabase: GuardsKeeping = {
  standing: () => ({ kind: 'complete' }),
  whileLogStands: (signal, work) => work(signal),
  whileLogReaches: (signal, work) => work(signal),
};

/** How often a pause is looked at again. */
const PAUSE_LOOK_MS = 1_000;

/**
 * A restored database holds log and guards of one moment, and nothing in it tells how old that is. Whoever put it back has noted
 * the pause before the service began, so it is looked for at the start only.
 */
const keepInOneDatabase = async (parts: KeepingParts): Promise<GuardsKeeping> => {
  const { engines, logger, runner } = parts;
  const identity = await engines.log.identity();
  if (!(await isPaused(engines.pool, identity))) return inOneDatabase;
  const state = createGuardsStanding();
  const standing: GuardsStanding = { kind: 'log set back', head: await engines.log.head(), furthest: null };
  state.set(standing);
  say(standing, logger);
  const watching = async (): Promise<void> => {
    while (!runner.stopping.aborted) {
      await pauseFor(PAUSE_LOOK_MS, runner.stopping);
      const paused = await isPaused(engines.pool, identity).catch(() => true);
      if (paused || runner.stopping.aborted) continue;
      state.set({ kind: 'complete' });
      say({ kind: 'complete' }, logger);
      return;
    }
  };
  const running = watching();
  runner.onStop('guards', () => running);
  return { ...state, whileLogReaches: inOneDatabase.whileLogReaches };
};

type KeepingParts = Pick<ServiceOptions, 'config' | 'clock' | 'logger'> & { engines: Engines; runner: Runner };

/** Engines that answered a moment ago do so again; when they do not, the service begins without, and turns requests away. */
const FIRST_ANSWER_MS = 5_000;

/**
 * Resolves when the guards are complete, when only the projector of this process can go on, or when neither came soon: requests and
 * work wait then. So a start under load listens once it can serve, and no client is turned away meanwhile.
 */
export const startGuardsKeeping = async (parts: KeepingParts): Promise<GuardsKeeping> => {
  const { config, clock, engines, logger, runner } = parts;
  if (config.eventStoreUrl === undefined) return await keepInOneDatabase(parts);
  const state = createGuardsStanding();
  const pool = openSessionPool(parts);
  let answered = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const stopping = new AbortController();
  const progress = sometimes(PROGRESS_MS, (standing: Rebuilding) => sayProgress(standing, logger));
  const running = runGuardsKeeper({
    log: engines.log,
    record: guardsRecord(pool, { idempotencyTtlSeconds: config.idempotencySeconds }),
    clock,
    windows: { idempotencySeconds: config.idempotencySeconds, duplicateSeconds: config.duplicateSeconds },
    operatorRowsHold: operatorRowsHold(engines),
    placeBefore: (since) => placeBefore(since, engines.store),
    signal: stopping.signal,
    onStanding: (standing) => {
      if (state.set(standing)) say(standing, logger);
      else if (standing.kind === 'rebuilding') progress(standing);
      if (mayBegin(standing)) answered();
    },
    onFilled: (rows) => logger.warn({ msg: 'guards were missing in the database and were put back', rows }),
    onFault: (error) => logger.warn({ msg: 'the guards wait for their engines', ...faultFields(error) }),
  });
  runner.onStop('guards', async () => {
    stopping.abort();
    await running;
    await pool.end();
  });
  await Promise.race([asked, pause(FIRST_ANSWER_MS, undefined, { signal: runner.stopping, ref: false })]).catch(
    () => undefined,
  );
  return state;
};

const mayBegin = (standing: GuardsStanding): boolean => {
  switch (standing.kind) {
    case 'complete':
    case 'log set back':
      return true;
    case 'rebuilding':
      return standing.waitsFor === 'operator rows';
    case 'unknown':
      return false;
    default:
      return unreachable(standing);
  }
};

/** One connection that waits behind no work of the service, and that only this asks. */
const openSessionPool = ({ config, engines, logger, runner }: KeepingParts) => {
  const { connectionString = '' } = engines.pool.options;
  return openPool({
    ...config.database.limits,
    ...{ connectionString, max: 1, applicationName: 'nfse-guards-position' },
    onIdleError: () => {
      if (!runner.stopping.aborted) logger.debug({ msg: 'the database connection of the guards was lost' });
    },
  });
};

/** Without them a revoked key would be let in and a good one turned away; the projector makes them anew from the log. */
const operatorRowsHold = ({ log, pool }: Pick<Engines, 'log' | 'pool'>) => {
  const all = [...new Set(operatorProjections.flatMap(({ prefixes }) => prefixes))];
  const isDone = doneUpTo(log);
  return async (after: LogPosition | null, upTo: LogPosition): Promise<boolean> => {
    if (await isDone(all, after, upTo)) return true;
    for (const projection of operatorProjections) {
      const checkpoint = await readCheckpoint(pool, projection);
      if (!(await isDone(projection.prefixes, checkpoint, upTo))) return false;
    }
    return true;
  };
};

/** Whether nothing of these streams stands between two places. Asked again and again with a later end: a stretch is looked at once. */
const doneUpTo = (log: Pick<EventLog, 'readAll'>) => {
  const known = new Map<string, { from: LogPosition | null; to: LogPosition }>();
  return async (prefixes: readonly string[], after: LogPosition | null, upTo: LogPosition): Promise<boolean> => {
    const name = prefixes.join(' ');
    const empty = known.get(name);
    const start = empty?.from === after && isEarlier(after, empty.to) ? empty.to : after;
    if (!isEarlier(start, upTo)) return true;
    const [next] = await log.readAll({ prefixes, after: start, limit: 1 });
    if (next !== undefined && !isEarlier(upTo, next.position)) return false;
    known.set(name, { from: after, to: upTo });
    return true;
  };
};

type Rebuilding = Extract<GuardsStanding, { kind: 'rebuilding' }>;

const PROGRESS_MS = 10_000;

/** Drops what comes too soon after the last. */
const sometimes = <T>(everyMs: number, act: (item: T) => void): ((item: T) => void) => {
  let last = performance.now();
  return (item) => {
    if (performance.now() - last < everyMs) return;
    last = performance.now();
    act(item);
  };
};

const sayProgress = ({ position, upTo, waitsFor }: Rebuilding, logger: KeepingParts['logger']): void => {
  const percent = Math.floor(shareOf(position, upTo) * 100);
  const places = { position: String(position ?? ''), up_to: String(upTo), percent };
  logger.info({ msg: 'the database comes up with the log', waits_for: waitsFor, ...places });
};

const say = (standing: GuardsStanding, logger: KeepingParts['logger']): void => {
  if (standing.kind === 'complete') logger.info({ msg: 'the guards are complete' });
  if (standing.kind === 'rebuilding') {
    const { position, upTo, waitsFor } = standing;
    const places = { position: String(position ?? ''), up_to: String(upTo) };
    logger.warn({ msg: 'the database is behind the log: requests wait', waits_for: waitsFor, ...places });
  }
  if (standing.kind === 'log set back') {
    const places = { head: String(standing.head ?? ''), furthest: String(standing.furthest ?? '') };
    logger.fatal({ msg: 'the log is older than the database: issuing is paused', ...places });
  }
};
