import { type Command, done } from '../../cli/command.js';
import { openSimulator } from '../authorizers.js';
import { systemClock } from '../clock.js';
import type { Config } from '../config.js';
import { createLogger, faultFields } from '../logger.js';
import { createRunner } from '../runner.js';
import { untilSignal } from '../until-signal.js';

export const simulatorCommand = (config: () => Config): Command => ({
  name: 'simulator',
  positionals: [],
  summary: 'run the authorizer simulator alone until SIGTERM or SIGINT',
  options: {},
  changes: false,
  run: async () => {
    const logger = createLogger(config().logLevel, 'stdout');
    const runner = createRunner((name, error) =>
      logger.error({ msg: 'stopping failed', part: name, ...faultFields(error) }),
    );
    const stopAsked = untilSignal(() => logger.fatal({ msg: 'forced to stop' }));
    try {
      const { urls, controlUrl } = await openSimulator(config(), systemClock, logger, runner);
      logger.info({ msg: 'ready', simulator: urls, simulator_control_url: controlUrl });
      await stopAsked;
    } finally {
      await runner.stop();
    }
    logger.info({ msg: 'stopped' });
    return done('', {});
  },
});
