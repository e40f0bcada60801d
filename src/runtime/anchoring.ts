import { pause } from '../waiting/pause.js';
import { createAnchorer } from '../workers/anchorer.js';
import { leaderSession } from '../workers/projection-leader.js';
import { faultFields } from './logger.js';
import type { Parts } from './service.js';

const LOCK = 'anchorer';

/**
 * The log's daily anchor, by one process among all; beside the sweeps, because the first anchor of a large log reads all of it.
 * Begins a sweep's pause after the start: a process that dies again and again would read a day of the log each time.
 */
export const anchorForEver = async (
  { engines, config, clock, logger }: Pick<Parts, 'engines' | 'config' | 'clock' | 'logger'>,
  signal: AbortSignal,
): Promise<void> => {
  const { log, store, pool } = engines;
  const session = leaderSession(pool);
  const anchor = createAnchorer({
    ...{ log, store, clock, actor: 'timer:anchorer', folder: config.anchorDir },
    onAnchored: (anchored) => logger.info({ msg: 'the log was anchored', ...anchored }),
  });
  const asLeader = async (): Promise<void> => {
    const lost = await session.tryLead(LOCK, signal);
    if (lost === undefined) return;
    await anchor(AbortSignal.any([signal, lost])).finally(() => session.resign(LOCK).catch(() => undefined));
  };
  while (!signal.aborted) {
    await pause(config.sweepSeconds * 1000, signal);
    if (signal.aborted) break;
    await asLeader().catch((error: unknown) => logger.warn({ msg: 'the log was not anchored', ...faultFields(error) }));
  }
  await session.close();
};
