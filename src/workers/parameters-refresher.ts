import { createRefresher, type RefreshDeps } from '../app/municipal-parameters/refresh.js';
import { pause } from '../lib/pause.js';

type ParametersRefresher = RefreshDeps & {
  /** Undefined while another process leads. Only one process asks, because the API refuses two calls in quick succession. */
  tryLead(): Promise<AbortSignal | undefined>;
  onFault(error: unknown): void;
  /** Milliseconds; tests use short ones. */
  pauses?: { between: number; idle: number };
};

/** Two calls in quick succession are answered with 429 (docs/national-system.md#limits-of-calls). */
export const PAUSES = { between: 3_000, idle: 5_000 };

/** Refreshes the cache of municipal parameters, one call at a time, until the signal aborts. */
export const runParametersRefresher = async (refresher: ParametersRefresher): Promise<void> => {
  const { tryLead, signal, onFault, pauses = PAUSES } = refresher;
  const refreshOne = createRefresher(refresher);
  while (!signal.aborted) {
    let waitMs = pauses.idle;
    try {
      const lead = await tryLead();
      if (lead !== undefined && (await refreshOne(lead)) === 'asked') waitMs = pauses.between;
    } catch (error) {
      onFault(error);
    }
    await pause(waitMs, signal);
  }
};
