import { createParkedTaps } from '../adapters/read-model-postgres/parked-taps.js';
import type { Session } from '../cli/session.js';
import type { Clock } from '../ports/clock.js';
import type { Config } from './config.js';
import type { Engines } from './engines.js';
import type { Logger } from './logger.js';
import type { Runner } from './runner.js';
import { type OpenedQueue, openWorkQueue } from './work-queue.js';

/** NATS is asked itself, once a command needs it; a queue inside the service's process by what it has written down. */
export const sessionQueue = (
  { pool }: Pick<Engines, 'pool'>,
  config: Config,
  clock: Clock,
  rest: { logger: Logger; runner: Runner },
): Session['queue'] => {
  if (config.natsUrl === undefined) {
    const taps = createParkedTaps(pool);
    return { parked: taps.list, retryParked: taps.askRetry, depth: async () => undefined };
  }
  let opened: Promise<OpenedQueue> | undefined;
  const queue = (): Promise<OpenedQueue> => {
    opened ??= openWorkQueue(config, ['issuer'], { clock, ...rest });
    return opened;
  };
  return {
    parked: async () => (await queue()).parked(),
    retryParked: async (stream) => (await queue()).retryParked(stream),
    depth: async () => (await queue()).depth(),
  };
};
