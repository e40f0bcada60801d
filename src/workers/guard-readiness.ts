import { isPlaceOf } from '../app/event-store/walk-log.js';
import { type GuardWindows, replayGuards } from '../app/recovery/replay-guards.js';
import type { Instant } from '../domain/common/time.js';
import { pause } from '../lib/pause.js';
import type { Clock } from '../ports/clock.js';
import { type EventLog, isEarlier, type LogPosition } from '../ports/event-log.js';
import type { GuardCheckpoint, GuardsAnswer, GuardsSession } from '../ports/guard-checkpoint.js';

/** Guard readiness: what a process knows about the guards. Requests are accepted only in `complete`. */
export type GuardReadiness =
  /** The database or the log has not answered yet, or the session with the database was lost. */
  | { kind: 'unknown' }
  | { kind: 'rebuilding'; position: LogPosition | null; upTo: LogPosition; waitsFor: 'guards' | 'operator rows' }
  | { kind: 'complete' }
  /**
   * Incomplete log: it was restored from a backup, and so ends before a position that the database was made from, or has grown past that position, or
   * lacks an event that this process knows. `isOther`: another log is at its address. Appending is refused.
   */
  | { kind: 'log incomplete'; head: LogPosition | null; furthest: LogPosition | null; isOther: boolean };

export type GuardReadinessWorker = {
  log: Pick<EventLog, 'hasPlace' | 'head' | 'identity' | 'readAll' | 'remembered'>;
  record: GuardCheckpoint;
  clock: Clock;
  windows: GuardWindows;
  /**
   * A position before which no event was recorded at the given instant or later; null when none is known. A database that is far behind begins there.
   */
  positionBefore(since: Instant): Promise<LogPosition | null>;
  /** Whether the rows that api processes decide by include all events after `after`, up to `upTo`. */
  operatorRowsHold(after: LogPosition | null, upTo: LogPosition): Promise<boolean>;
  signal: AbortSignal;
  onReadiness(readiness: GuardReadiness): void;
  /** Called with the number of missing rows that were written. Rows of requests that are being accepted at the time are not counted. */
  onFilled(rows: number): void;
  onFault(error: unknown): void;
  /** Milliseconds between two comparisons; tests use short ones. */
  pauseMs?: { complete: number; waiting: number };
  beatMs?: number;
  /** Milliseconds of a clock that is never set. */
  steadyMs?: () => number;
};

export const PAUSE_MS = { complete: 1_000, waiting: 250 };

/**
 * A guard may have been committed before this session began and then lost, with its invoice appended only later. No request takes longer than this
 * time; until it is over the log is read again, whatever the guards' position says.
 */
const GRACE_MS = 60_000;

/**
 * The database ends a session that is silent for 20 s. A long part of the log without relevant events takes longer to read, and so does a look at a log
 * that answers slowly.
 */
const BEAT_MS = 5_000;

/** An EventStoreDB node that lags behind its leader briefly reports an older head. Only this many such answers in a row are recorded. */
const INCOMPLETE_LOOKS = 5;

/**
 * Keeps the guards complete and reports guard readiness (ADR 14). Compares the guards' position with the head of the log, writes missing rows, then
 * follows the head. One process moves the position, the others watch it. Resolves when the signal aborts; faults of the engines are retried.
 */
export const runGuardReadiness = async (worker: GuardReadinessWorker): Promise<void> => {
  const { log, record, signal, onReadiness, onFault, pauseMs = PAUSE_MS } = worker;
  /** Identity of the log at the start. Another log at the same address counts as a loss of this one. */
  let identity: string | undefined;
  let isFirstFault = true;
  const onAnswer = (): void => {
    isFirstFault = true;
  };
  while (!signal.aborted) {
    let session: GuardsSession | undefined;
    try {
      identity ??= await log.identity();
      session = await record.open(identity);
      await runSession(session, worker, { identity, pauseMs, onAnswer });
    } catch (error) {
      onFault(error);
    }
    if (!signal.aborted) onReadiness({ kind: 'unknown' });
    await session?.close();
    await pause(isFirstFault ? pauseMs.waiting : pauseMs.complete, signal);
    isFirstFault = false;
  }
};

/** Thrown when the guards' position is behind one that this session has read: the rows were replaced during the session. */
class GuardsReplaced extends Error {
  override readonly name = 'GuardsReplaced';
}

/** What a session has learned. It begins again with the next session. */
type SessionState = {
  /** On the steady clock, in milliseconds. */
  readonly beganAt: number;
  /** Head of the first look that found nothing missing. The guards are complete once they cover it. */
  firstHead: { head: LogPosition | null } | undefined;
  isComplete: boolean;
  /** True when the log was read up to a head from after the grace: requests that began before this session are all included. */
  hasReadPastGrace: boolean;
  /** Looks in a row that found this log incomplete. */
  incompleteLooks: number;
  /** Whether the look before found an incomplete log, or a recorded pause. */
  wasIncomplete: boolean;
  coveredUpTo: LogPosition | null;
  lastHead: LogPosition | null;
};

/** Which of the two pauses follows. */
type Pace = keyof typeof PAUSE_MS;

const runSession = async (
  session: GuardsSession,
  worker: GuardReadinessWorker,
  { identity, pauseMs, onAnswer }: { identity: string; pauseMs: typeof PAUSE_MS; onAnswer: () => void },
): Promise<void> => {
  const { log, signal, onFault } = worker;
  const state: SessionState = {
    beganAt: steadyNow(worker),
    firstHead: undefined,
    isComplete: false,
    hasReadPastGrace: false,
    incompleteLooks: 0,
    wasIncomplete: false,
    coveredUpTo: null,
    lastHead: null,
  };
  const ended = AbortSignal.any([signal, session.lost]);
  while (!signal.aborted) {
    // The database is read first. The log only grows, so a later head is never before what the database was made from.
    const look = await session.look();
    if (isEarlier(look.guards, state.coveredUpTo)) {
      throw new GuardsReplaced('the guards were replaced while they were watched');
    }
    onAnswer();
    // A pause holds whatever the log says, and what it has lost is no longer looked for.
    if (look.logWasIncomplete) log.remembered?.forget();
    const positions = state.isComplete && !state.wasIncomplete ? [] : positionsOf(look);
    const found = await withHeartbeat(session, look.guards, worker, () => lookAtLog(log, identity, positions, onFault));
    state.lastHead = found.head === undefined ? state.lastHead : found.head;
    const pace = (await noticeLoss(session, worker, state, look, found.end))
      ? 'complete'
      : await followLog(session, worker, state, look, found.end);
    await pause(pauseMs[pace], ended);
  }
};

const steadyNow = ({ steadyMs = () => performance.now() }: GuardReadinessWorker): number => steadyMs();

/** Whether the log is incomplete, or a recorded pause holds. A loss that has shown itself often enough is recorded. */
const noticeLoss = async (
  session: GuardsSession,
  { clock, onReadiness }: GuardReadinessWorker,
  state: SessionState,
  look: GuardsAnswer,
  end: LogEnd,
): Promise<boolean> => {
  const head = state.lastHead;
  const isShorter = end !== 'no answer' && isEarlier(head, look.furthest);
  const isIncomplete = isShorter || INCOMPLETE_ENDS.has(end);
  // Another log has lost nothing of this one, which is complete when it comes back. A look without an answer says neither.
  if (isIncomplete && end !== 'another log') state.incompleteLooks += 1;
  else if (end === 'held' || end === 'another log') state.incompleteLooks = 0;
  if (!look.logWasIncomplete && (end === 'replaced' || state.incompleteLooks === INCOMPLETE_LOOKS)) {
    await session.noteIncompleteLog(head, clock.now(), INCOMPLETE_ENDS.has(end) ? 'events' : 'positions');
  }
  if (!isIncomplete && !look.logWasIncomplete) return false;
  state.wasIncomplete = true;
  onReadiness({ kind: 'log incomplete', head, furthest: look.furthest, isOther: end === 'another log' });
  return true;
};

/** Brings the guards up to the head of a log that lacks nothing, and reports how far they are. */
const followLog = async (
  session: GuardsSession,
  worker: GuardReadinessWorker,
  state: SessionState,
  look: GuardsAnswer,
  end: LogEnd,
): Promise<Pace> => {
  const { onReadiness, onFault } = worker;
  if (end !== 'held') {
    if (state.firstHead === undefined) onReadiness({ kind: 'unknown' });
    return 'complete';
  }
  const head = state.lastHead;
  state.firstHead ??= { head };
  const upTo = state.firstHead.head;
  if (state.wasIncomplete && head !== null) {
    // Said before the guards are read, which may take long: the pause is over, and the projector may begin.
    onReadiness({ kind: 'rebuilding', position: look.guards, upTo: head, waitsFor: 'guards' });
    state.wasIncomplete = false;
  }
  const isPastGrace = steadyNow(worker) - state.beganAt >= GRACE_MS;
  const covered = await withHeartbeat(session, look.guards, worker, () =>
    advanceGuards(session, worker, state, look, head),
  ).catch((error: unknown) => {
    // The log could not be read. While the session lives, guards that were complete stay complete and progress is kept.
    if (session.lost.aborted || error instanceof GuardsReplaced) throw error;
    onFault(error);
    return undefined;
  });
  if (covered === undefined) return state.isComplete ? 'complete' : 'waiting';
  if (look.leads) state.hasReadPastGrace ||= isPastGrace && !isEarlier(covered.guards, head);
  state.coveredUpTo = covered.guards;
  const waitsFor = waitReason(covered, upTo);
  if (waitsFor === undefined) {
    state.isComplete = true;
    onReadiness({ kind: 'complete' });
  } else if (upTo !== null) {
    onReadiness({ kind: 'rebuilding', position: covered.guards, upTo, waitsFor });
  }
  // Processes that started together wait for the position to reach the head that each saw at its start, so they compare more often.
  return state.isComplete && (state.hasReadPastGrace || !look.leads) ? 'complete' : 'waiting';
};

/** One process writes missing rows and moves the positions; the others take the positions that they have read. */
const advanceGuards = async (
  session: GuardsSession,
  worker: GuardReadinessWorker,
  { isComplete, hasReadPastGrace }: SessionState,
  look: GuardsAnswer,
  head: LogPosition | null,
): Promise<CoveredPositions> => {
  if (!look.leads || head === null) return look;
  if (!isEarlier(look.guards, head) && !isEarlier(look.operatorRows, head)) return look;
  const reporter = isComplete ? { ...worker, onReadiness: ignore, onFilled: ignore } : worker;
  if (!hasReadPastGrace || !isComplete) return await readToHead(look, head, session, reporter);
  // Guards are committed before their invoice is appended. After the grace, all events up to the head therefore have their guards.
  await session.move({ guards: head, operatorRows: head });
  return { guards: head, operatorRows: head };
};

/** `missing` also when the log cannot be read from a position that the database was made from. `unread`: the head was read, and the rest was not. */
type LogEnd = 'held' | 'missing' | 'replaced' | 'another log' | 'unread' | 'no answer';

const INCOMPLETE_ENDS: ReadonlySet<LogEnd> = new Set(['missing', 'replaced', 'another log']);

/**
 * The identity and the remembered events are asked for after the head, which is then of the log that they are of. A head that was read counts also
 * when the rest cannot be read, because it may show a loss.
 */
const lookAtLog = async (
  log: GuardReadinessWorker['log'],
  identity: string,
  positions: readonly LogPosition[],
  onFault: (error: unknown) => void,
): Promise<{ head?: LogPosition | null; end: LogEnd }> => {
  let head: LogPosition | null | undefined;
  try {
    head = await log.head();
    return { head, end: await endOf(log, identity, head, positions) };
  } catch (error) {
    onFault(error);
    return head === undefined ? { end: 'no answer' } : { head, end: 'unread' };
  }
};

const endOf = async (
  log: GuardReadinessWorker['log'],
  identity: string,
  head: LogPosition | null,
  positions: readonly LogPosition[],
): Promise<LogEnd> => {
  // An empty log would get an identity by the question; its length already shows the loss.
  if (head !== null && (await log.identity()) !== identity) return 'another log';
  const end = (await log.remembered?.look()) ?? 'held';
  if (end !== 'held') return end;
  const places = await Promise.all(
    positions.map((position) => isEarlier(head, position) || isPlaceOf(log, head, position)),
  );
  return places.every((isPlace) => isPlace) ? 'held' : 'missing';
};

const positionsOf = ({ guards, operatorRows, furthest }: GuardsAnswer): readonly LogPosition[] => [
  ...new Set([guards, operatorRows, furthest].filter((position) => position !== null)),
];

/** Once the guards are complete, events that are read again belong to requests in progress: no reason to refuse requests or to report rows. */
const ignore = (): void => undefined;

type CoveredPositions = Pick<GuardsAnswer, 'guards' | 'operatorRows'>;

const readToHead = async (
  look: CoveredPositions,
  head: LogPosition,
  session: GuardsSession,
  worker: GuardReadinessWorker,
): Promise<CoveredPositions> => {
  const guards = isEarlier(look.guards, head) ? await catchUp(look.guards, head, session, worker) : look.guards;
  if (isEarlier(guards, head) || !(await worker.operatorRowsHold(look.operatorRows, head))) return { ...look, guards };
  await session.move({ guards, operatorRows: head });
  return { guards, operatorRows: head };
};

const catchUp = async (
  from: LogPosition | null,
  upTo: LogPosition,
  session: GuardsSession,
  { onReadiness, onFilled, signal, ...worker }: GuardReadinessWorker,
): Promise<LogPosition | null> => {
  let position = from;
  let filled = 0;
  for await (const step of replayGuards(from, upTo, { ...worker, session })) {
    position = step.position;
    filled += step.filled;
    if (signal.aborted) break;
    if (isEarlier(position, upTo)) onReadiness({ kind: 'rebuilding', position, upTo, waitsFor: 'guards' });
  }
  if (filled > 0) onFilled(filled);
  return position;
};

/** Reads the position regularly during the work, so that the database keeps the session open and a replacement of its rows is noticed. */
const withHeartbeat = async <T>(
  session: GuardsSession,
  seen: LogPosition | null,
  { beatMs = BEAT_MS }: GuardReadinessWorker,
  work: () => Promise<T>,
): Promise<T> => {
  const over = new AbortController();
  const ended = AbortSignal.any([over.signal, session.lost]);
  const heartbeat = (async (): Promise<void> => {
    for (;;) {
      await pause(beatMs, ended);
      if (ended.aborted) return;
      const { guards } = await session.look();
      if (isEarlier(guards, seen)) throw new GuardsReplaced('the guards were replaced while they were written');
    }
  })();
  // `await heartbeat` below reports the fault once the work has ended; this only prevents an unhandled rejection.
  heartbeat.catch(() => undefined);
  try {
    return await work();
  } finally {
    over.abort();
    await heartbeat;
  }
};

const waitReason = (covered: CoveredPositions, upTo: LogPosition | null): 'guards' | 'operator rows' | undefined => {
  if (isEarlier(covered.guards, upTo)) return 'guards';
  return isEarlier(covered.operatorRows, upTo) ? 'operator rows' : undefined;
};
