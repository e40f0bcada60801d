import { EventEmitter, once, setMaxListeners } from 'node:events';
import { operatorProjections } from '../../../projections/registry.js';
import { guardCheckpoint } from '../../adapters/guards-postgres/guards-record.js';
import { pauseIssuingAtEnd, readPauseAndServer } from '../../adapters/guards-postgres/incomplete-log.js';
import { openPool } from '../../adapters/sql/pool.js';
import { positionBefore } from '../../app/audit/anchor-log.js';
import { shareOf } from '../../app/event-store/walk-log.js';
import { createFirstEvent } from '../../app/read/lag.js';
import { pause, settlesWithin } from '../../lib/pause.js';
import type { Clock } from '../../ports/clock.js';
import { isEarlier, type LogPosition } from '../../ports/event-log.js';
import { readCheckpoint } from '../../projector/checkpoints.js';
import { type GuardReadiness, PAUSE_MS, runGuardReadiness } from '../../workers/guard-readiness.js';
import type { Config } from '../config/config.js';
import { createFaultLines } from '../config/fault-lines.js';
import { faultFields, type Logger } from '../config/logger.js';
import type { Engines } from '../engines/engines.js';
import { pauseText, RECONCILE } from '../engines/pause-text.js';
import type { Runner } from '../engines/runner.js';
import { createDatabasePresence } from './database-presence.js';

export type GuardReadinessSource = {
  current(): GuardReadiness;
  /**
   * Runs work of this process that appends to the log, while appends are allowed: not before the log is known to be complete, and again after each
   * pause. The signal of the work aborts when a pause begins. Work that fails is reported and begins again.
   */
  whileAppendsAllowed(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /**
   * As `whileAppendsAllowed`, for work that follows the log from a stored position. A subscription to a log that ends before that position would wait
   * there without end. `wasPaused`: the log was incomplete before, so a position that was read earlier may be lost.
   */
  whileLogCoversCheckpoint(
    signal: AbortSignal,
    work: (signal: AbortSignal, wasPaused: boolean) => Promise<void>,
  ): Promise<void>;
  /** Whether the database that keeps the log was away a moment ago. Absent with a log apart, whose loss each process sees by itself. */
  wasAway?(): boolean;
  /** Over when the guards have first been compared with the log, or after a bounded wait. The API listens after that. */
  untilSettled(): Promise<void>;
};

/** Milliseconds before work that failed begins again. */
const AGAIN_MS = 1_000;

/** Keeps the last guard readiness and runs work under it. A lost database pauses no work, which stops by itself. `onFault`: of work that failed. */
export const createGuardReadiness = (
  onFault: (error: unknown) => void,
): Omit<GuardReadinessSource, 'untilSettled'> & {
  /** True when the kind differs from the last one. */
  set(readiness: GuardReadiness): boolean;
} => {
  let last: GuardReadiness = { kind: 'unknown' };
  /** Aborts when work must pause; undefined during a pause. */
  let period: AbortController | undefined;
  const periods = new EventEmitter();
  let wasPaused = false;

  const setAllowed = (isAllowed: boolean): void => {
    if (isAllowed === (period !== undefined)) return;
    period?.abort();
    period = isAllowed ? new AbortController() : undefined;
    if (isAllowed) periods.emit('begun');
  };

  const inPeriods: GuardReadinessSource['whileLogCoversCheckpoint'] = async (signal, work) => {
    const nextPeriod = () => once(periods, 'begun', { signal }).catch(() => undefined);
    while (!signal.aborted) {
      const current = period;
      if (current !== undefined) {
        const going = AbortSignal.any([signal, current.signal]);
        // Each work may be many loops, which Node would take for a leak.
        setMaxListeners(0, going);
        try {
          await work(going, wasPaused);
        } catch (error) {
          // Without this work the process would issue no more, and its end would also end its other work.
          onFault(error);
          await pause(AGAIN_MS, going);
          continue;
        }
      }
      // Work that has nothing to do ends by itself, and would end at once again.
      if (current === period && !signal.aborted) await nextPeriod();
    }
  };

  return {
    current: () => last,
    set: (readiness) => {
      const isOtherKind = readiness.kind !== last.kind;
      last = readiness;
      wasPaused ||= readiness.kind === 'log incomplete';
      if (readiness.kind !== 'unknown') setAllowed(readiness.kind !== 'log incomplete');
      return isOtherKind;
    },
    whileAppendsAllowed: inPeriods,
    whileLogCoversCheckpoint: inPeriods,
  };
};

/**
 * Milliseconds between two looks for a pause. Another process may have noticed that the log lost its end. Its work comes back to the queue after a
 * longer time, so no other issuer takes that work before it sees the pause.
 */
const PAUSE_LOOK_MS = 250;

/** The name is logged: two servers that answer in turn at one address would keep invoices queued without end. */
class OtherServer extends Error {
  override readonly name = 'OtherServer';
}

/** How long a stop waits for the last look for a pause. */
const LAST_LOOK_MS = 1_000;

/** How long after the signal a stop still tries to record a pause that is due. The process is cut off 55 s after the signal. */
const RECORDED_IN_STOP_MS = 45_000;

/**
 * No event is without its guards here, because both are in one database. Nothing shows how old a restored database is, so a restore records a pause.
 * A process that notices what a failover has lost records one too, also while it stops. Another process may record one at any time, so a pause is
 * looked for all the time. A database that does not answer changes nothing: nothing can be appended without it.
 */
const readinessInOneDatabase = async (parts: ReadinessParts): Promise<GuardReadinessSource> => {
  const { clock, config, engines, logger, runner } = parts;
  const { lookPool, log } = engines;
  const { lostEnd } = log;
  const identity = await log.identity();
  const state = createGuardReadiness(reportTo(logger));
  /** A loss that this process has noticed, and a pause that was lost; each until a pause is recorded. */
  const due = { loss: false, forgotten: false };
  const isDue = (): boolean => due.loss || due.forgotten;
  /** The end of the log when the pause was recorded. Recovery appends before it ends a pause: a pause that is gone without a new event was lost. */
  let endAtPause: { head: LogPosition | null } | undefined;
  // Over NATS another process may remember events that a failover has just lost, and this process may get their work as soon as it has started.
  const presence = createDatabasePresence(config.natsUrl !== undefined);
  // A database that fails again and again within this time keeps invoices queued without end, and other lines say nothing of that.
  const waits = createFaultLines({
    logger,
    msg: 'issuing waits until the database has answered for five seconds',
    everyMs: PAUSE_LOOK_MS,
  });
  const look = async (): Promise<void> => {
    const isLost = (await lostEnd?.isLost()) === true;
    const { pause: recorded, end: head, server } = await readPauseAndServer(lookPool, identity);
    const held = isLost ? undefined : recorded;
    const isHeld = held !== undefined;
    const isForgotten = !isLost && !isHeld && endAtPause !== undefined && !isEarlier(endAtPause.head, head);
    due.forgotten = isForgotten;
    const isPaused = isLost || isHeld || isForgotten;
    const seen: GuardReadiness = isPaused
      ? { kind: 'log incomplete', head, furthest: null, isOther: false }
      : { kind: 'complete' };
    const isFirst = state.current().kind === 'unknown';
    if (state.set(seen) && !(isFirst && seen.kind === 'complete')) logReadiness(seen, logger);
    if (!isPaused) endAtPause = undefined;
    if (isHeld) endAtPause ??= { head: held.head };
    if (presence.answered(isLost ? undefined : server)) waits.tell(new OtherServer());
    if (!isLost && !isForgotten) return;
    await pauseIssuingAtEnd(lookPool, identity, clock.now());
    // A standby may have answered that no pause is held. It takes no record.
    if (isForgotten) logger.fatal({ msg: 'the database had lost the pause of issuing, which is recorded again' });
    due.loss = false;
    due.forgotten = false;
    // Another process may have appended since the head was read. What is appended after the record survives no failover that loses the record.
    endAtPause = { head: (await readPauseAndServer(lookPool, identity)).end };
    // The work of this process pauses by now, and that of others soon: until then the log takes no append.
    lostEnd?.accept();
  };
  let wake = new AbortController();
  lostEnd?.onLost(() => {
    due.loss = true;
    logger.fatal({ msg: 'the event log has lost events that this process has read or appended' });
    wake.abort();
  });
  // A busy server may not let a connection in within the limit of one look.
  await look().catch(look);
  const tellWhy = throttled(PROGRESS_MS, (error: unknown) =>
    logger.error({
      msg: 'no pause of issuing can be recorded: nothing is appended, trying again',
      ...faultFields(error),
    }),
  );
  let isEnding = false;
  let isOver = false;
  const watching = async (): Promise<void> => {
    for (;;) {
      await pause(PAUSE_LOOK_MS, wake.signal);
      if (wake.signal.aborted) wake = new AbortController();
      const isLast = isEnding;
      await look().catch((error: unknown) => {
        presence.failed();
        if (isDue()) tellWhy(error);
        else if (!isEnding) waits.tell(error);
      });
      if (!presence.wasAway()) waits.areOver();
      if (isOver || (isLast && !isDue())) return;
    }
  };
  const watched = watching();
  let signalAt = 0;
  runner.stopping.addEventListener('abort', () => {
    // A process with the API has waited so long since the signal.
    signalAt = performance.now() - config.stopDelayMs;
  });
  // The next process remembers nothing of what was lost. Answers that were kept are recorded before this step, and may be what shows the loss.
  runner.onStop('pause after a lost end', async () => {
    isEnding = true;
    wake.abort();
    // A silent database delays the stop no longer, unless a loss is known.
    await settlesWithin(LAST_LOOK_MS, watched);
    if (isDue()) await settlesWithin(Math.max(0, signalAt + RECORDED_IN_STOP_MS - performance.now()), watched);
    isOver = true;
    if (isDue())
      logger.fatal({ msg: 'no pause of issuing is recorded: run nfse restore --mark before the next process starts' });
  });
  return {
    ...state,
    // The rows are of the same moment as the log, so the projector may go on during a pause.
    whileLogCoversCheckpoint: (signal, work) => work(signal, false),
    wasAway: presence.wasAway,
    untilSettled: async () => undefined,
  };
};

type ReadinessParts = { config: Config; clock: Clock; logger: Logger; engines: Engines; runner: Runner };

/** Milliseconds that a start waits for complete guards before it listens. After that it refuses requests until the guards are complete. */
const SETTLED_WITHIN_MS = 5_000;

/** Starts the guards' worker. `untilSettled` of the result is over when the guards are complete, when the log is incomplete, or after 5 s. */
export const startGuardReadiness = async (parts: ReadinessParts): Promise<GuardReadinessSource> => {
  const { config, clock, engines, logger, runner } = parts;
  if (config.eventStoreUrl === undefined) return await readinessInOneDatabase(parts);
  const state = createGuardReadiness(reportTo(logger));
  const pool = openSessionPool(parts);
  let settle = (): void => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const stopping = new AbortController();
  const progress = throttled(PROGRESS_MS, (readiness: Rebuilding) => logProgress(readiness, logger));
  const running = runGuardReadiness({
    log: engines.log,
    record: guardCheckpoint(pool, { idempotencySeconds: config.idempotencySeconds }),
    clock,
    windows: { idempotencySeconds: config.idempotencySeconds, duplicateSeconds: config.duplicateSeconds },
    operatorRowsHold: operatorRowsHold(engines),
    positionBefore: (since) => positionBefore(since, engines.store, stopping.signal),
    signal: stopping.signal,
    onReadiness: (readiness) => {
      if (state.set(readiness)) logReadiness(readiness, logger);
      else if (readiness.kind === 'rebuilding') progress(readiness);
      if (readiness.kind === 'complete' || readiness.kind === 'log incomplete') settle();
    },
    onFilled: (rows) => logger.warn({ msg: 'missing guard rows were written again', rows }),
    onFault: createFaultLines({
      logger,
      msg: 'guard readiness: an engine does not answer, trying again',
      everyMs: PAUSE_MS.complete,
    }).tell,
  });
  runner.onStop('guards', async () => {
    stopping.abort();
    await running;
    await pool.end();
  });
  const bound = pause(SETTLED_WITHIN_MS, runner.stopping);
  return { ...state, untilSettled: () => Promise.race([settled, bound]) };
};

/** A single connection that only this worker uses, so that it never waits behind other work. */
const openSessionPool = ({ config, engines, logger, runner }: ReadinessParts) => {
  const { connectionString = '' } = engines.pool.options;
  return openPool({
    ...config.database.limits,
    connectionString,
    max: 1,
    refuseStandby: true,
    applicationName: 'nfse-guards-position',
    onIdleError: () => {
      if (!runner.stopping.aborted) logger.debug({ msg: 'the database connection of the guards was lost' });
    },
  });
};

/** Without these rows a revoked key would be accepted and a valid one refused. The projector rebuilds them from the log. */
const operatorRowsHold = ({ log, pool }: Pick<Engines, 'log' | 'pool'>) => {
  const all = [...new Set(operatorProjections.flatMap(({ prefixes }) => prefixes))];
  const firstEvent = createFirstEvent(log);
  return async (after: LogPosition | null, upTo: LogPosition): Promise<boolean> => {
    if ((await firstEvent(all, after, upTo)) === undefined) return true;
    for (const projection of operatorProjections) {
      const checkpoint = await readCheckpoint(pool, projection);
      if ((await firstEvent(projection.prefixes, checkpoint, upTo)) !== undefined) return false;
    }
    return true;
  };
};

const reportTo =
  (logger: Logger) =>
  (error: unknown): void =>
    logger.error({ msg: 'work of this process failed and begins again', ...faultFields(error) });

type Rebuilding = Extract<GuardReadiness, { kind: 'rebuilding' }>;

const PROGRESS_MS = 10_000;

/** Calls `act` at most once per interval and drops the rest. */
const throttled = <T>(everyMs: number, act: (item: T) => void): ((item: T) => void) => {
  let last = performance.now();
  return (item) => {
    if (performance.now() - last < everyMs) return;
    last = performance.now();
    act(item);
  };
};

const logProgress = (readiness: Rebuilding, logger: Logger): void => {
  const percent = Math.floor(shareOf(readiness.position, readiness.upTo) * 100);
  logger.info({ msg: 'the guards are catching up with the log', ...rebuildingFields(readiness), percent });
};

const rebuildingFields = ({ position, upTo, waitsFor }: Rebuilding) => ({
  waits_for: waitsFor,
  position: String(position ?? ''),
  up_to: String(upTo),
});

const logReadiness = (readiness: GuardReadiness, logger: Logger): void => {
  if (readiness.kind === 'complete') logger.info({ msg: 'the guards are complete' });
  if (readiness.kind === 'rebuilding')
    logger.warn({
      msg: 'the guards are behind the log: requests are refused until they have caught up',
      ...rebuildingFields(readiness),
    });
  if (readiness.kind === 'log incomplete') {
    const { head, furthest, isOther } = readiness;
    logger.fatal({
      ...(isOther
        ? { msg: 'another log is at the address of the event log: issuing is paused' }
        : { msg: pauseText(head, furthest), cure: RECONCILE }),
      ...(head === null ? {} : { head: String(head) }),
      // After a restore of one database nothing shows how far the log once went.
      ...(furthest === null ? {} : { furthest: String(furthest) }),
    });
  }
};
