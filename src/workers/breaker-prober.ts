import type { Breaker } from '../app/issuing/breaker.js';
import type { Mode } from '../domain/common/ids.js';
import { pause } from '../lib/pause.js';

type BreakerProber = {
  breaker: Pick<Breaker, 'probeWithoutSend'>;
  modes: readonly Mode[];
  /** Milliseconds between two questions whether a look-up is due. */
  paceMs: number;
  signal: AbortSignal;
  onFault(error: unknown): void;
};

/**
 * Lets the breaker of each mode make the look-ups that are due, until the signal aborts. Each process that sends runs this, because the breaker is in
 * its memory.
 */
export const runBreakerProber = async ({ breaker, modes, paceMs, signal, onFault }: BreakerProber): Promise<void> => {
  while (!signal.aborted) {
    // Not awaited: the breaker has at most one such look-up under way. A look-up records nothing, so a stop does not wait for it.
    for (const mode of modes) void breaker.probeWithoutSend(mode).catch(onFault);
    await pause(paceMs, signal);
  }
};
