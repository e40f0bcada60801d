import { concludeCancellationIfDue } from '../app/issuer/cancel.js';
import type { IssuerDeps } from '../app/issuer/deps.js';
import { concludeIssueIfDue } from '../app/issuer/issue.js';
import { lastLookUntil } from '../app/issuer/look-up-places.js';
import { deleteTestInvoice } from '../app/retention/delete-test-invoice.js';
import type { StreamName } from '../domain/shared/ids.js';
import { addSeconds, epochMs, type Instant, isBefore } from '../domain/shared/time.js';
import type { EventLog } from '../ports/event-log.js';
import type { PendingCuts } from '../ports/guards.js';
import type { DeadlineCursor, KeptRows, OpenWorkCursor, ReadModel } from '../ports/read-model.js';
import type { WorkQueue } from '../ports/work-queue.js';

/** Work without a new event for this long is tapped again: the queue is a hint, the log is the truth (design section 6, 9). */
const QUEUED_QUIET_SECONDS = 30;
const STARTED_QUIET_SECONDS = 120;
const PAGE = 200;
/** Verdicts without a look-up are the log's work alone. */
const CONCLUDED_AT_ONCE = 16;
/** A verdict may have to wait for a last look-up; so many of them wait at the same time. */
const LOOKED_UP_AT_ONCE = 64;

export type Sweeper = {
  readModel: ReadModel;
  log: EventLog;
  queue: WorkQueue | undefined;
  cuts: PendingCuts;
  keptRows: KeptRows;
  deps: IssuerDeps;
  onFault(stream: StreamName, error: unknown): void;
};

/** So many taps that fail in a row are the queue's fault; one alone is its stream's. */
const FAILED_TAPS = 5;

/**
 * One sweep; every command re-checks the log, so early, late and double sweeps are harmless. Once the signal aborts,
 * it finishes what it has in hand and begins nothing more. What fails in one part, a queue that is out for instance, keeps no
 * other part from its work; the first fault is thrown at the end.
 */
export const sweep = async (sweeper: Sweeper, sweepNumber: number, signal?: AbortSignal): Promise<void> => {
  const { limits, clock } = sweeper.deps;
  const now = clock.now();
  const neverAttempted = { queued: addSeconds(now, -limits.queuedSeconds) };
  const others = {
    started: addSeconds(now, -limits.processingSeconds),
    cancel: addSeconds(now, -limits.cancellationSeconds),
  };
  const faults: unknown[] = [];
  for (const part of [
    () => concludeWhatIsDue(sweeper, neverAttempted, now, CONCLUDED_AT_ONCE, signal),
    () => tapQuietWork(sweeper, sweepNumber, signal),
    () => deleteExpired(sweeper, signal),
    // Last, because these look up before they conclude, and nobody may answer.
    () => concludeWhatIsDue(sweeper, others, now, LOOKED_UP_AT_ONCE, signal),
  ]) {
    await part().catch((error: unknown) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
};

/**
 * At start an in-process queue is empty: everything that is open is tapped at once, what is due first at the head. Nothing else may be
 * put in before, or what is young would be worked on while the old runs out of time.
 */
export const refill = async ({ readModel, queue, deps }: Sweeper, signal?: AbortSignal): Promise<void> => {
  if (queue === undefined) return;
  const wanted = { quietSince: null, windows: deps.limits };
  const open = paged((after: OpenWorkCursor | undefined) => readModel.openWork(wanted, PAGE, after), signal);
  for await (const { kind, stream } of open) {
    await queue.put({ kind, stream, messageId: `${stream}/refill` });
  }
};

/** All rows, page by page; ends early when the signal aborts. */
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
    after = page[page.length - 1];
    if (page.length < PAGE) return;
  }
}

const concludeWhatIsDue = async (
  { readModel, deps, onFault }: Sweeper,
  beganBefore: Parameters<ReadModel['verdictsDue']>[0],
  now: Instant,
  atOnce: number,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { clock } = deps;
  // The last look-ups of one sweep share their time, so that the verdicts behind them are not late.
  const partBeganAt = clock.now();
  const due = paged((after: DeadlineCursor | undefined) => readModel.verdictsDue(beganBefore, PAGE, after), signal);
  const lane = async (): Promise<void> => {
    for await (const { kind, stream, since } of due) {
      // A newer row may be one that this very sweep has moved to the end; the next sweep looks at it.
      if (isBefore(now, since)) return;
      const conclude = kind === 'issue' ? concludeIssueIfDue : concludeCancellationIfDue;
      await conclude(stream, deps, lastLookUntil(clock.now(), partBeganAt)).catch((error: unknown) =>
        onFault(stream, error),
      );
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: atOnce }, lane));
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason;
};

const tapQuietWork = async (
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
      if (failed >= FAILED_TAPS) throw error;
      onFault(stream, error);
    }
  }
};

const deleteExpired = async (
  { readModel, log, cuts, keptRows, deps, onFault }: Sweeper,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const createdBefore = addSeconds(deps.clock.now(), -deps.limits.testRetentionSeconds);
  const expired = await readModel.expiredTestInvoices(createdBefore, PAGE);
  for (const stream of new Set([...(await cuts.list(PAGE)), ...expired])) {
    if (signal?.aborted) return;
    await deleteTestInvoice(stream, { ...deps, log, cuts, keptRows }).catch((error: unknown) => onFault(stream, error));
  }
};
