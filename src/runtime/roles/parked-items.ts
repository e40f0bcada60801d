import { createParkedItems, type ParkedItems } from '../../adapters/read-model-postgres/parked-items.js';
import { pause } from '../../lib/pause.js';
import type { ParkedWork, WorkQueue } from '../../ports/work-queue.js';
import { faultFields } from '../config/logger.js';
import type { Parts } from './parts.js';

/** Shows the parked work items of the in-process queue to operator commands, until the signal aborts. */
export const showParked = ({ queue, engines, logger }: Parts, signal: AbortSignal): Promise<void> =>
  mirrorParked(queue, createParkedItems(engines.pool), signal, (error) =>
    logger.debug({ msg: 'the list of parked work items could not be written', ...faultFields(error) }),
  );

const LOOK_MS = 1_000;

/** Shows commands what the in-process queue has parked, and does the retries that they request; without a query while nothing is parked. */
export const mirrorParked = async (
  queue: Pick<WorkQueue, 'parked' | 'retryParked'>,
  items: Pick<ParkedItems, 'replace' | 'retriesAsked'>,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
  lookMs = LOOK_MS,
): Promise<void> => {
  // Rows of an earlier process do not describe this queue, so the first round always writes.
  let shown = 'unknown';
  while (!signal.aborted) {
    try {
      const { work: parked } = await queue.parked();
      if (textOf(parked) !== shown) await items.replace(parked);
      shown = textOf(parked);
      if (parked.length > 0) for (const stream of await items.retriesAsked()) await queue.retryParked(stream);
    } catch (error) {
      onFault(error);
    }
    await pause(lookMs, signal);
  }
};

const textOf = (parked: readonly ParkedWork[]): string => JSON.stringify(parked);
