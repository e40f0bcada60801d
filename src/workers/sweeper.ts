import { concludeCancellationIfDue } from '../app/issuer/cancel.js';
import type { IssuerDeps } from '../app/issuer/deps.js';
import { concludeIssueIfDue } from '../app/issuer/issue.js';
import { deleteTestInvoice } from '../app/retention/delete-test-invoice.js';
import type { StreamName } from '../domain/shared/ids.js';
import { addSeconds, epochMs } from '../domain/shared/time.js';
import type { EventLog } from '../ports/event-log.js';
import type { PendingCuts } from '../ports/guards.js';
import type { ReadModel } from '../ports/read-model.js';
import type { WorkQueue } from '../ports/work-queue.js';

/** Work without a new event for this long is tapped again: the queue is a hint, the log is the truth (design section 6, 9). */
const QUEUED_QUIET_SECONDS = 30;
const STARTED_QUIET_SECONDS = 120;
const AT_ONCE = 200;

export type Sweeper = {
  readModel: ReadModel;
  log: EventLog;
  queue: WorkQueue | undefined;
  cuts: PendingCuts;
  deps: IssuerDeps;
  onFault(stream: StreamName, error: unknown): void;
};

/** One sweep; every command re-checks the log, so early, late and double sweeps are harmless. */
export const sweep = async (sweeper: Sweeper, sweepNumber: number): Promise<void> => {
  await concludeWhatIsDue(sweeper);
  await tapQuietWork(sweeper, sweepNumber);
  await deleteExpired(sweeper);
};

/** At start an in-process queue is empty: everything that is open is tapped at once. */
export const refill = async ({ readModel, queue }: Sweeper): Promise<void> => {
  for (const { kind, stream } of await readModel.openWork(null, Number.MAX_SAFE_INTEGER)) {
    await queue?.put({ kind, stream, messageId: `${stream}/refill` });
  }
};

const concludeWhatIsDue = async ({ readModel, deps, onFault }: Sweeper): Promise<void> => {
  const now = deps.clock.now();
  const { queuedSeconds, processingSeconds, cancellationSeconds } = deps.limits;
  const due = await readModel.verdictsDue(
    {
      queued: addSeconds(now, -queuedSeconds),
      started: addSeconds(now, -processingSeconds),
      cancel: addSeconds(now, -cancellationSeconds),
    },
    AT_ONCE,
  );
  for (const { kind, stream } of due) {
    const conclude = kind === 'issue' ? concludeIssueIfDue : concludeCancellationIfDue;
    await conclude(stream, deps).catch((error: unknown) => onFault(stream, error));
  }
};

const tapQuietWork = async ({ readModel, queue, deps }: Sweeper, sweepNumber: number): Promise<void> => {
  if (queue === undefined) return;
  const now = deps.clock.now();
  const quietSince = {
    queued: addSeconds(now, -QUEUED_QUIET_SECONDS),
    started: addSeconds(now, -STARTED_QUIET_SECONDS),
  };
  for (const { kind, stream, since } of await readModel.openWork(quietSince, AT_ONCE)) {
    const quietSeconds = Math.floor((epochMs(now) - epochMs(since)) / 1000);
    await queue.put({ kind, stream, messageId: `${stream}/${since}/${sweepNumber}/${quietSeconds}` });
  }
};

const deleteExpired = async ({ readModel, log, cuts, deps, onFault }: Sweeper): Promise<void> => {
  const createdBefore = addSeconds(deps.clock.now(), -deps.limits.testRetentionSeconds);
  const expired = await readModel.expiredTestInvoices(createdBefore, AT_ONCE);
  for (const stream of new Set([...(await cuts.list(AT_ONCE)), ...expired])) {
    await deleteTestInvoice(stream, { ...deps, log, cuts }).catch((error: unknown) => onFault(stream, error));
  }
};
