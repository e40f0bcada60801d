import type { ReconcileDeps } from '../app/reconciliation/deps.js';
import { walkOn } from '../app/reconciliation/walk.js';
import type { Mode } from '../domain/shared/ids.js';
import { createBackoff } from '../waiting/backoff.js';
import { pause } from '../waiting/pause.js';

export type Reconciler = ReconcileDeps & {
  modes: readonly Mode[];
  /** One process among all walks. Undefined while another one leads. */
  tryLead(): Promise<AbortSignal | undefined>;
  /** False while the authorizer of the mode is known to be in trouble: it has better things to do. */
  mayAsk(mode: Mode): boolean;
  /** Milliseconds between two looks: sends never wait behind a walk. */
  paceMs: number;
  signal: AbortSignal;
  onFault(error: unknown): void;
};

/** After answers that prove nothing. */
const LONGEST_PAUSE_MS = 15 * 60_000;

/** Compares what the authorizer holds with our outcomes, a mode at a time, until the signal aborts. */
export const runReconciler = async (reconciler: Reconciler): Promise<void> => {
  await Promise.all(reconciler.modes.map((mode) => walkMode(mode, reconciler)));
};

const walkMode = async (mode: Mode, reconciler: Reconciler): Promise<void> => {
  const { tryLead, mayAsk, paceMs, signal, onFault } = reconciler;
  const backoff = createBackoff(paceMs * 2, Math.max(LONGEST_PAUSE_MS, paceMs));
  while (!signal.aborted) {
    let waitMs = paceMs;
    try {
      const isLeading = mayAsk(mode) && (await tryLead()) !== undefined;
      if (isLeading && (await walkOn(mode, reconciler)) === 'inconclusive') waitMs = backoff.next();
      else backoff.reset();
    } catch (error) {
      onFault(error);
    }
    await pause(waitMs, signal);
  }
};
