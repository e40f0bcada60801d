import { registry } from '../../projections/registry.js';
import { runProjector } from '../workers/projector.js';
import { faultFields } from './logger.js';
import type { Parts } from './service.js';

/** Starts the projector; a projection that halts is said once, loudly, and fails readiness. */
export const startProjecting = (parts: Parts, onHalted: (name: string) => void): void => {
  const { engines, clock, guards, logger, runner } = parts;
  const stopping = new AbortController();
  const project = (signal: AbortSignal): Promise<void> =>
    runProjector({
      log: engines.log,
      db: engines.pool,
      projections: registry.projections,
      clock,
      signal,
      onHalt: (halt) => {
        logger.fatal({ msg: 'a projection halted', ...halt, position: String(halt.position ?? '') });
        // A newer program keeps those rows; readiness asks whether they can be read.
        if (halt.position !== undefined) onHalted(halt.name);
      },
      onUpgrade: (upgrade) => logger.info({ msg: 'a projection of an older version is being replaced', ...upgrade }),
      onFault: (name, error) =>
        logger.warn({ msg: 'a projection is waiting for its engines', name, ...faultFields(error) }),
    });
  const running = guards.whileLogReaches(stopping.signal, project).catch((error: unknown) => {
    logger.fatal({ msg: 'the projector ended', ...faultFields(error) });
    onHalted('projector');
  });
  runner.onStop('projector', async () => {
    stopping.abort();
    await running;
  });
};
