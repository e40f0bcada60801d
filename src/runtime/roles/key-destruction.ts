import { oldestKeptDay } from '../../app/retention/test-retention.js';
import { pause } from '../../lib/pause.js';
import { createReminder } from '../../lib/reminder.js';
import { faultFields } from '../config/logger.js';
import type { Parts } from './parts.js';

/**
 * Destroys the keys of past test days until the signal aborts, once in each sweep interval. Runs also while issuing is paused: a pause has no bound,
 * nothing is appended, and a test invoice of such a day is over, so neither a comparison nor a repeated request needs its key (ADR 25). Needs no lead:
 * two processes that delete the same key do no harm.
 */
export const runKeyDestruction = async (
  { config, engines, clock, logger }: Pick<Parts, 'config' | 'engines' | 'clock' | 'logger'>,
  signal: AbortSignal,
): Promise<void> => {
  const reminder = createReminder();
  while (!signal.aborted) {
    try {
      await engines.sealingKeys.destroyDayKeys(oldestKeptDay(clock.now()));
      reminder.reset();
    } catch (error) {
      const fields = faultFields(error);
      if (reminder.isDue(`${fields.error} ${fields.code}`))
        logger.warn({ msg: 'the keys of past test days were not destroyed', ...fields });
    }
    await pause(config.sweepSeconds * 1000, signal);
  }
};
