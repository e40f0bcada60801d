import type { ParkedTaps } from '../adapters/read-model-postgres/parked-taps.js';
import type { ParkedTap, WorkQueue } from '../ports/work-queue.js';
import { pause } from '../waiting/pause.js';

const LOOK_MS = 1_000;

/**
 * Shows what the in-process queue has parked to the operator's commands, and does the retries that they ask for. Costs nothing
 * while nothing is parked. Resolves when the signal aborts; a database that is away is asked again.
 */
export const mirrorParked = async (
  queue: Pick<WorkQueue, 'parked' | 'retryParked'>,
  taps: Pick<ParkedTaps, 'replace' | 'retriesAsked'>,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
  lookMs = LOOK_MS,
): Promise<void> => {
  // Unknown at the start: rows of the process before are not of this queue.
  let shown = 'unknown';
  while (!signal.aborted) {
    try {
      const parked = await queue.parked();
      if (textOf(parked) !== shown) await taps.replace(parked);
      shown = textOf(parked);
      if (parked.length > 0) for (const stream of await taps.retriesAsked()) await queue.retryParked(stream);
    } catch (error) {
      onFault(error);
    }
    await pause(lookMs, signal);
  }
};

const textOf = (parked: readonly ParkedTap[]): string => JSON.stringify(parked);
