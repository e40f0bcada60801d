import { type RefreshDeps, refreshOne } from '../app/municipal-parameters/refresh.js';
import { pause } from '../waiting/pause.js';

export type ParametersRefresher = RefreshDeps & {
  /** One process among all asks: the API refuses two quick calls. Undefined while another one leads. */
  tryLead(): Promise<AbortSignal | undefined>;
  signal: AbortSignal;
  onFault(error: unknown): void;
  /** Milliseconds; tests make them short. */
  pauses?: { between: number; idle: number };
};

/** Two quick calls are answered 429 (openapi README, "ADN distribution"). */
const PAUSES = { between: 3_000, idle: 5_000 };

/** Keeps the cache young, one question at a time, until the signal aborts. */
export const runParametersRefresher = async (refresher: ParametersRefresher): Promise<void> => {
  const { tryLead, signal, onFault, pauses = PAUSES } = refresher;
  while (!signal.aborted) {
    let waitMs = pauses.idle;
    try {
      const lost = await tryLead();
      if (lost !== undefined && (await refreshOne(refresher)) === 'asked') waitMs = pauses.between;
    } catch (error) {
      onFault(error);
    }
    await pause(waitMs, signal);
  }
};
