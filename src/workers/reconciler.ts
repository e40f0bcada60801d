import { type DistributionDeps, distributionStep } from '../app/reconciliation/follow-distribution.js';
import { reconcileStep } from '../app/reconciliation/reconcile-step.js';
import type { Mode } from '../domain/common/ids.js';
import { createBackoff } from '../lib/backoff.js';
import { pause } from '../lib/pause.js';

export type Reconciler = DistributionDeps & {
  modes: readonly Mode[];
  /** The lead of one task, which only one process does at a time. */
  leadOf(task: ReconcilerTask, mode: Mode): Lead;
  /** False while the authorizer of the mode is known to be in trouble. */
  isAuthorizerWell(mode: Mode): boolean;
  /** Milliseconds between two look-ups, so that sends never wait behind them. */
  paceMs: number;
  /** Milliseconds between two calls to the distribution of the ADN. */
  distributionPaceMs: number;
  signal: AbortSignal;
  onFault(error: unknown): void;
};

type ReconcilerTask = 'reconciliation' | 'distribution';

/** `take` returns undefined while another process leads. A lead is kept until it is resigned or lost. */
type Lead = { take(): Promise<AbortSignal | undefined>; resign(): Promise<void> };

/** After answers that prove nothing the pause doubles up to this. */
const LONGEST_PAUSE_MS = 15 * 60_000;

/** Compares what the authorizer holds with recorded outcomes, and follows the queues of the ADN, for all modes side by side until the signal aborts. */
export const runReconciler = async (reconciler: Reconciler): Promise<void> => {
  const { modes, paceMs, distributionPaceMs } = reconciler;
  await Promise.all(
    modes.flatMap((mode) => [
      repeat('reconciliation', mode, reconcileStep, paceMs, reconciler),
      repeat('distribution', mode, distributionStep, distributionPaceMs, reconciler),
    ]),
  );
};

const repeat = async (
  task: ReconcilerTask,
  mode: Mode,
  step: typeof distributionStep,
  paceMs: number,
  reconciler: Reconciler,
): Promise<void> => {
  const { isAuthorizerWell, signal, onFault } = reconciler;
  // A lead of this loop alone, so that none is resigned while a step of another loop is under way.
  const lead = reconciler.leadOf(task, mode);
  const backoff = createBackoff(paceMs * 2, Math.max(LONGEST_PAUSE_MS, paceMs));
  while (!signal.aborted) {
    let waitMs = paceMs;
    try {
      const isWell = isAuthorizerWell(mode);
      // The environment may be out for this process alone, and another one can lead meanwhile.
      if (!isWell) await lead.resign();
      const isLeading = isWell && (await lead.take()) !== undefined;
      if (isLeading && (await step(mode, reconciler)) === 'inconclusive') waitMs = backoff.next();
      else backoff.reset();
    } catch (error) {
      onFault(error);
    }
    await pause(waitMs, signal);
  }
};
