import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardWindows } from '../app/guards-rebuild/accepted-guards.js';
import { replayGuards } from '../app/guards-rebuild/replay.js';
import { epochMs, type Instant } from '../domain/shared/time.js';
import type { Clock } from '../ports/clock.js';
import { type EventLog, isEarlier, type LogPosition } from '../ports/event-log.js';
import type { GuardsLook, GuardsRecord, GuardsSession } from '../ports/guards-record.js';

/** What a process knows of the guards; only `complete` lets requests in. */
export type GuardsStanding =
  /** R or the log has not answered yet, or the session of R was lost. */
  | { kind: 'unknown' }
  | { kind: 'rebuilding'; position: LogPosition | null; upTo: LogPosition; waitsFor: 'guards' | 'operator rows' }
  | { kind: 'complete' }
  /** The log ends before what R was made from: it was restored from an older backup. Nothing may be appended to it. */
  | { kind: 'log set back'; head: LogPosition | null; furthest: LogPosition | null };

export type GuardsKeeper = {
  log: Pick<EventLog, 'head' | 'identity' | 'readAll'>;
  record: GuardsRecord;
  clock: Clock;
  windows: GuardWindows;
  /**
   * A place in the log before which no event was recorded at the instant or later; null when none is known. A database that is far
   * behind goes on from there.
   */
  placeBefore(since: Instant): Promise<LogPosition | null>;
  /** Whether the rows that api processes decide by hold the log's events behind `after`, up to `upTo`. */
  operatorRowsHold(after: LogPosition | null, upTo: LogPosition): Promise<boolean>;
  signal: AbortSignal;
  onStanding(standing: GuardsStanding): void;
  /** Rows were missing and were put back; what is being accepted meanwhile is not told. */
  onFilled(rows: number): void;
  onFault(error: unknown): void;
  /** Between two looks, in milliseconds; tests make it short. */
  pauseMs?: { complete: number; waiting: number };
  beatMs?: number;
};

const PAUSE_MS = { complete: 1_000, waiting: 250 };

/**
 * A guard may have been committed before this session began, lost in a restart, and its invoice appended only afterwards.
 * No request takes longer than this, so until then the log is read again and nothing is taken for granted.
 */
const GRACE_SECONDS = 60;

/** R ends a session that says nothing for 20 s; reading a long stretch of the log without an event of ours may take longer. */
const BEAT_MS = 5_000;

/** A node that lags behind its leader shows an older head for moments; that alone is not written down. */
const SET_BACK_LOOKS = 5;

/**
 * Keeps R's guards complete and knows whether they are (design section 5): compares R's position with the head of the log,
 * puts back what is missing, then follows the head. One process among all moves the position, the others watch it. Resolves
 * when the signal aborts; faults of the engines are retried.
 */
export const runGuardsKeeper = async (keeper: GuardsKeeper): Promise<void> => {
  const { log, record, signal, onStanding, onFault, pauseMs = PAUSE_MS } = keeper;
  /** Of the log that this process began with: another one under its address is no news, but a loss. */
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
      await keepDuring(session, keeper, pauseMs, onAnswer);
    } catch (error) {
      onFault(error);
    }
    if (!signal.aborted) onStanding({ kind: 'unknown' });
    await session?.close();
    await pause(isFirstFault ? pauseMs.waiting : pauseMs.complete, [signal]);
    isFirstFault = false;
  }
};

/** Thrown when R's position is behind one that this very session has seen: its rows were replaced under us. */
export class GuardsWentBack extends Error {
  override readonly name = 'GuardsWentBack';
}

const keepDuring = async (
  session: GuardsSession,
  keeper: GuardsKeeper,
  pauseMs: { complete: number; waiting: number },
  onAnswer: () => void,
): Promise<void> => {
  const { log, clock, signal, onStanding, onFault } = keeper;
  const beganAt = epochMs(clock.now());
  let begin: { head: LogPosition | null } | undefined;
  let isComplete = false;
  /** The log was read up to a head of after the grace: nothing that began before this session can come any more. */
  let mayVouch = false;
  let setBackLooks = 0;
  let seen: LogPosition | null = null;
  const ended = AbortSignal.any([signal, session.lost]);
  while (!signal.aborted) {
    // R first: the log only grows, so a head that was read later is never earlier than what R was made from.
    const look = await session.look();
    if (isEarlier(look.guards, seen)) throw new GuardsWentBack('the guards were set back while they were kept');
    onAnswer();
    const head = await log.head().catch((error: unknown) => {
      onFault(error);
      return 'unknown' as const;
    });
    if (head === 'unknown') {
      if (begin === undefined) onStanding({ kind: 'unknown' });
      await pause(pauseMs.complete, [ended]);
      continue;
    }
    const isSetBack = isEarlier(head, look.furthest);
    setBackLooks = isSetBack ? setBackLooks + 1 : 0;
    if (setBackLooks === SET_BACK_LOOKS) await session.noteSetBack(head, clock.now());
    if (isSetBack || look.wasSetBack) {
      onStanding({ kind: 'log set back', head, furthest: look.furthest });
      await pause(pauseMs.complete, [ended]);
      continue;
    }
    begin ??= { head };
    const isPastGrace = epochMs(clock.now()) - beganAt >= GRACE_SECONDS * 1_000;
    const told = isComplete ? { ...keeper, onStanding: ignore, onFilled: ignore } : keeper;
    const held = await whileAlive(session, look.guards, keeper, async () => {
      if (!look.leads || head === null) return look;
      if (mayVouch && isComplete) return await vouch(look, head, session);
      return await readOn(look, head, session, told);
    }).catch((error: unknown) => {
      // The log could not be read. While the session lives, what was complete is complete, and what was read is read.
      if (session.lost.aborted || error instanceof GuardsWentBack) throw error;
      onFault(error);
      return undefined;
    });
    if (held === undefined) {
      await pause(isComplete ? pauseMs.complete : pauseMs.waiting, [ended]);
      continue;
    }
    if (look.leads) mayVouch ||= isPastGrace && !isEarlier(held.guards, head);
    seen = held.guards;
    const waitsFor = missing(held, begin.head);
    if (waitsFor === undefined) {
      isComplete = true;
      onStanding({ kind: 'complete' });
    } else if (begin.head !== null) {
      onStanding({ kind: 'rebuilding', position: held.guards, upTo: begin.head, waitsFor });
    }
    // Processes that started together wait for the position to reach the head of their own beginning: it moves often meanwhile.
    const isSettled = isComplete && (mayVouch || !look.leads);
    await pause(isSettled ? pauseMs.complete : pauseMs.waiting, [ended]);
  }
};

/** Once complete, what is read again is only being accepted: neither a reason to turn anybody away nor news. */
const ignore = (): void => undefined;

type Held = Pick<GuardsLook, 'guards' | 'operatorRows'>;

/** Guards are set before their invoice is appended, so a session that has lived long enough vouches for all up to the head. */
const vouch = async (look: Held, head: LogPosition, session: GuardsSession): Promise<Held> => {
  if (!isEarlier(look.guards, head) && !isEarlier(look.operatorRows, head)) return look;
  await session.move({ guards: head, operatorRows: head });
  return { guards: head, operatorRows: head };
};

const readOn = async (look: Held, head: LogPosition, session: GuardsSession, keeper: GuardsKeeper): Promise<Held> => {
  if (!isEarlier(look.guards, head) && !isEarlier(look.operatorRows, head)) return look;
  const guards = isEarlier(look.guards, head) ? await catchUp(look.guards, head, session, keeper) : look.guards;
  if (isEarlier(guards, head) || !(await keeper.operatorRowsHold(look.operatorRows, head))) return { ...look, guards };
  await session.move({ guards, operatorRows: head });
  return { guards, operatorRows: head };
};

const catchUp = async (
  from: LogPosition | null,
  upTo: LogPosition,
  session: GuardsSession,
  { onStanding, onFilled, signal, ...keeper }: GuardsKeeper,
): Promise<LogPosition | null> => {
  let position = from;
  let filled = 0;
  for await (const step of replayGuards(from, upTo, { ...keeper, session })) {
    position = step.position;
    filled += step.filled;
    if (signal.aborted) break;
    if (isEarlier(position, upTo)) onStanding({ kind: 'rebuilding', position, upTo, waitsFor: 'guards' });
  }
  if (filled > 0) onFilled(filled);
  return position;
};

/** Looks at R now and then while the work goes on, so that R takes the session for alive and a change of its rows is found. */
const whileAlive = async <T>(
  session: GuardsSession,
  seen: LogPosition | null,
  { beatMs = BEAT_MS }: GuardsKeeper,
  work: () => Promise<T>,
): Promise<T> => {
  const over = new AbortController();
  const beating = (async (): Promise<void> => {
    for (;;) {
      await pause(beatMs, [over.signal, session.lost]);
      if (over.signal.aborted || session.lost.aborted) return;
      const { guards } = await session.look();
      if (isEarlier(guards, seen)) throw new GuardsWentBack('the guards were set back while they were made');
    }
  })();
  // Told below, once the work has ended.
  beating.catch(() => undefined);
  try {
    return await work();
  } finally {
    over.abort();
    await beating;
  }
};

const missing = (held: Held, upTo: LogPosition | null): 'guards' | 'operator rows' | undefined => {
  if (isEarlier(held.guards, upTo)) return 'guards';
  return isEarlier(held.operatorRows, upTo) ? 'operator rows' : undefined;
};

const pause = (ms: number, signals: readonly AbortSignal[]): Promise<void> =>
  sleep(ms, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
