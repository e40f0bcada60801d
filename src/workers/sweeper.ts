import { concludeCancellationIfDue } from '../app/issuing/cancellation.js';
import type { IssuerDeps } from '../app/issuing/deps.js';
import { lastLookUpUntil } from '../app/issuing/look-up-limit.js';
import { concludeIssueIfDue } from '../app/issuing/note.js';
import { deleteTestInvoice } from '../app/retention/test-retention.js';
import type { StreamName } from '../domain/common/ids.js';
import { addSeconds, epochMs, type Instant, isBefore } from '../domain/common/time.js';
import { runEach } from '../lib/run-each.js';
import type { EventLog } from '../ports/event-log.js';
import type { OpenWorkCursor, PreviousGeneration, ReadModel, TimerCursor } from '../ports/read-model.js';
import type { PendingCuts } from '../ports/work-progress.js';
import type { WorkQueue } from '../ports/work-queue.js';

/** Work without a new event for this long is put into the queue again (docs/architecture.md#workers-and-their-failures). */
const QUEUED_QUIET_SECONDS = 30;
const STARTED_QUIET_SECONDS = 120;
const PAGE = 200;
/** Verdicts without a look-up only need the log. */
const CONCLUDED_AT_ONCE = 16;
/** A verdict may wait for a last look-up; at most this many wait at the same time. */
const LOOKED_UP_AT_ONCE = 64;

export type Sweeper = {
  readModel: ReadModel;
  log: EventLog;
  queue: WorkQueue | undefined;
  cuts: PendingCuts;
  previousGeneration: PreviousGeneration;
  deps: IssuerDeps;
  /** Runs a verdict in the trace of its stream. */
  inTrace: (stream: StreamName, conclude: () => Promise<void>) => Promise<void>;
  onFault(stream: StreamName, error: unknown): void;
};

/** This many failed puts in a row are a fault of the queue; fewer are a fault of their stream. */
const FAILED_PUTS = 5;

/**
 * One sweep. Every command checks the log again, so early, late and double sweeps are harmless. After the signal aborts it ends the work under way,
 * records no verdict, and begins nothing. A part that fails, such as a queue that is out, does not stop the other parts; the first fault is thrown at
 * the end.
 */
export const sweep = async (sweeper: Sweeper, sweepNumber: number, signal?: AbortSignal): Promise<void> => {
  const { limits, clock } = sweeper.deps;
  const now = clock.now();
  const neverAttempted = { queued: addSeconds(now, -limits.queuedSeconds) };
  const others = {
    started: addSeconds(now, -limits.processingSeconds),
    cancel: addSeconds(now, -limits.cancellationSeconds),
  };
  const faults = await runEach([
    () => concludeDue(sweeper, neverAttempted, now, CONCLUDED_AT_ONCE, signal),
    () => requeueQuietWork(sweeper, sweepNumber, signal),
    () => deleteExpired(sweeper, signal),
    // Last, because these look up before they conclude, and the authorizer may not answer.
    () => concludeDue(sweeper, others, now, LOOKED_UP_AT_ONCE, signal),
  ]);
  if (faults.length > 0) throw faults[0];
};

/**
 * Fills the empty in-process queue at start with all open work, earliest deadline first. Nothing else may be put in before, or young work would run
 * while old work runs out of time.
 */
export const refillQueue = async ({ readModel, queue, deps }: Sweeper, signal?: AbortSignal): Promise<void> => {
  if (queue === undefined) return;
  const wanted = { quietSince: null, windows: deps.limits };
  const open = paged((after: OpenWorkCursor | undefined) => readModel.openWork(wanted, PAGE, after), signal);
  for await (const { kind, stream } of open) {
    await queue.put({ kind, stream, messageId: `${stream}/refill` });
  }
};

/** Yields all rows, page by page; ends early when the signal aborts. */
async function* paged<Cursor, Row extends Cursor>(
  ask: (after: Cursor | undefined) => Promise<readonly Row[]>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Row, void, void> {
  let after: Cursor | undefined;
  while (!signal?.aborted) {
    const page = await ask(after);
    for (const row of page) {
      if (signal?.aborted) return;
      yield row;
    }
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

const concludeDue = async (
  { readModel, deps, inTrace, onFault }: Sweeper,
  beganBefore: Parameters<ReadModel['verdictsDue']>[0],
  now: Instant,
  atOnce: number,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { clock } = deps;
  // The signal aborts when issuing pauses too, and a verdict that is under way then may be of a log that has lost its end.
  const pausable = signal === undefined ? deps : { ...deps, pausing: signal };
  // The last look-ups of one sweep share their time, so that later verdicts are not late.
  const partBeganAt = clock.now();
  const due = paged((after: TimerCursor | undefined) => readModel.verdictsDue(beganBefore, PAGE, after), signal);
  const worker = async (): Promise<void> => {
    for await (const { kind, stream, since } of due) {
      // A row that this sweep has moved to the end is left to the next sweep. Rows come by `since`, so the rest is newer too: `return` ends the
      // generator for all workers.
      if (isBefore(now, since)) return;
      const conclude = kind === 'issue' ? concludeIssueIfDue : concludeCancellationIfDue;
      const verdict = () => conclude(stream, pausable, lastLookUpUntil(clock.now(), partBeganAt));
      await inTrace(stream, verdict).catch((error: unknown) => onFault(stream, error));
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  for (const ended of workers) if (ended.status === 'rejected') throw ended.reason;
};

const requeueQuietWork = async (
  { readModel, queue, deps, onFault }: Sweeper,
  sweepNumber: number,
  signal: AbortSignal | undefined,
): Promise<void> => {
  if (queue === undefined) return;
  const now = deps.clock.now();
  const quietSince = {
    queued: addSeconds(now, -QUEUED_QUIET_SECONDS),
    started: addSeconds(now, -STARTED_QUIET_SECONDS),
  };
  const wanted = { quietSince, windows: deps.limits };
  const quiet = paged((after: OpenWorkCursor | undefined) => readModel.openWork(wanted, PAGE, after), signal);
  let failed = 0;
  for await (const { kind, stream, since } of quiet) {
    const quietSeconds = Math.floor((epochMs(now) - epochMs(since)) / 1000);
    try {
      await queue.put({ kind, stream, messageId: `${stream}/${since}/${sweepNumber}/${quietSeconds}` });
      failed = 0;
    } catch (error) {
      failed += 1;
      if (failed >= FAILED_PUTS) throw error;
      onFault(stream, error);
    }
  }
};

const deleteExpired = async (
  { readModel, log, cuts, previousGeneration, deps, onFault }: Sweeper,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const createdBefore = addSeconds(deps.clock.now(), -deps.limits.testRetentionSeconds);
  const expired = await readModel.expiredTestInvoices(createdBefore, PAGE);
  for (const stream of new Set([...(await cuts.list(PAGE)), ...expired])) {
    if (signal?.aborted) return;
    await deleteTestInvoice(stream, { ...deps, log, cuts, previousGeneration }).catch((error: unknown) =>
      onFault(stream, error),
    );
  }
};
