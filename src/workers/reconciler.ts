import { type DistributionDeps, distributionStep } from '../app/reconciliation/follow-distribution.js';
import { reconcileStep } from '../app/reconciliation/reconcile-step.js';
import type { Mode } from '../domain/common/ids.js';
import { createBackoff } from '../lib/backoff.js';
import { pause } from '../lib/pause.js';

export type Reconciler = DistributionDeps & {
  modes: readonly Mode[];
  /** Undefined while another process leads; only one process reconciles. */
  tryLead(): Promise<AbortSignal | undefined>;
  /** False while the authorizer of the mode is known to be in trouble. */
  isAuthorizerWell(mode: Mode): boolean;
  /** Milliseconds between two look-ups, so that sends never wait behind them. */
  paceMs: number;
  /** Milliseconds between two calls to the distribution of the ADN. */
  distributionPaceMs: number;
  signal: AbortSignal;
  onFault(error: unknown): void;
};

/** After answers that prove nothing the pause doubles up to this. */
const LONGEST_PAUSE_MS = 15 * 60_000;

/** Compares what the authorizer holds with recorded outcomes, and follows the queues of the ADN, for all modes side by side until the signal aborts. */
export const runReconciler = async (reconciler: Reconciler): Promise<void> => {
  const { modes, paceMs, distributionPaceMs } = reconciler;
  await Promise.all(
    modes.flatMap((mode) => [
      repeat(mode, reconcileStep, paceMs, reconciler),
      repeat(mode, distributionStep, distributionPaceMs, reconciler),
    ]),
  );
};

const repeat = async (
  mode: Mode,
  step: typeof distributionStep,
  paceMs: number,
  reconciler: Reconciler,
): Promise<void> => {
  const { tryLead, isAuthorizerWell, signal, onFault } = reconciler;
  const backoff = createBackoff(paceMs * 2, Math.max(LONGEST_PAUSE_MS, paceMs));
  while (!signal.aborted) {
    let waitMs = paceMs;
    try {
      const isLeading = isAuthorizerWell(mode) && (await tryLead()) !== undefined;
      if (isLeading && (await step(mode, reconciler)) === 'inconclusive') waitMs = backoff.next();
      else backoff.reset();
    } catch (error) {
      onFault(error);
    }
    await pause(waitMs, signal);
  }
};
