import { allProjections } from '../../../projections/registry.js';
import { runProjector } from '../../projector/projector.js';
import { createFaultLines } from '../config/fault-lines.js';
import { faultFields, streamFields } from '../config/logger.js';
import type { Parts } from './parts.js';

/** Starts the projector. A projection that halts at an event is logged as fatal, and fails readiness as long as it is in `halted`. */
export const startProjector = (parts: Parts, halted: Set<string>): void => {
  const { engines, clock, guards, logger, runner, diskSpace } = parts;
  const stopping = new AbortController();
  const { connectionTimeoutMillis = 0 } = engines.pool.options;
  const faults = createFaultLines({
    logger,
    msg: 'a projection failed and is tried again',
    // The leads of all projections are asked for on one connection, so the tries of one wait for a silent server behind those of all others.
    everyMs: allProjections.length * connectionTimeoutMillis,
  });
  const project = async (signal: AbortSignal): Promise<void> => {
    // After a pause of the log the rows may be others. Where they are not, the projection halts again.
    halted.clear();
    await runProjector({
      log: engines.log,
      db: engines.pool,
      projections: allProjections,
      clock,
      signal,
      onHalt: ({ position, stream, ...halt }) => {
        // The rows are of a newer version, as after each upgrade: a newer program keeps them, and readiness checks whether they can be read.
        if (position === undefined)
          return logger.warn({ msg: 'a newer program keeps the rows of a projection', ...halt });
        const where = stream === undefined ? {} : streamFields(stream);
        logger.fatal({ msg: 'a projection halted', ...halt, ...where, position: String(position) });
        halted.add(halt.name);
      },
      onResume: (name) => {
        logger.info({ msg: 'a halted projection continues', name });
        halted.delete(name);
      },
      onUpgrade: (upgrade) => logger.info({ msg: 'a projection of an older version is being replaced', ...upgrade }),
      onFault: (name, error) => {
        diskSpace.record(error);
        faults.tell(error, { name });
      },
    }).catch((error: unknown) => {
      // Rows of another log or a schema that refuses stay so until a person mends them, so nothing is tried again before a pause or a start.
      logger.fatal({ msg: 'the projector ended', ...faultFields(error) });
      halted.add('projector');
    });
  };
  const running = guards.whileLogCoversCheckpoint(stopping.signal, project);
  runner.onStop('projector', async () => {
    stopping.abort();
    await running;
  });
};
