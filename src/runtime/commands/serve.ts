import { badUsage, type Command, done, textFlag } from '../../cli/command.js';
import { roles as allRoles, type Config, type Role } from '../config/config.js';
import { systemClock } from '../engines/clock.js';
import { createRunner } from '../engines/runner.js';
import type { Service } from '../roles/parts.js';
import { untilSignal } from './signals.js';

export const serveCommand = (config: () => Config): Command => ({
  name: 'serve',
  summary: 'run the service until SIGTERM or SIGINT',
  options: { role: { value: 'ROLES', help: `all, or a list of ${allRoles.join(',')}` } },
  changes: false,
  run: async ({ flags }) => {
    const roles = parseRoles(textFlag(flags, 'role') ?? 'all');
    if (roles === undefined) return badUsage(`--role must be all or a list of ${allRoles.join(',')}`);
    const oneQueue = config().natsUrl === undefined;
    if (oneQueue && roles.includes('issuer') !== roles.includes('relay')) return badUsage(ONE_QUEUE);
    const { api, ops } = config();
    if (roles.includes('api') && api.port === ops.port && api.port !== 0 && api.host === ops.host)
      return badUsage('PORT and OPS_PORT name the same port');
    const { createLogger } = await import('../config/logger.js');
    const logger = createLogger(config().logLevel, 'stdout');
    const stopAsked = untilSignal(() => logger.fatal({ msg: 'forced to stop' }));
    const asked = new AbortController();
    void stopAsked.then((signal) => {
      logger.info({ msg: 'stopping', signal });
      asked.abort();
    });
    const { StoppedWhileStarting, startService } = await import('../service.js');
    let service: Service | undefined;
    try {
      service = await startService({
        config: config(),
        roles,
        clock: systemClock,
        simulatorProcess: true,
        warmThreads: true,
        sparesProxies: true,
        logger,
        stopAsked: asked.signal,
        beforeReady: async (started) => {
          if (!roles.includes('api')) return;
          const { prepareFirstStart } = await import('./first-start.js');
          await prepareFirstStart(started, config(), systemClock);
        },
      });
      await stopAsked;
      await service.leave();
    } catch (error) {
      if (!(error instanceof StoppedWhileStarting)) throw error;
    } finally {
      await service?.stop();
    }
    logger.info({ msg: 'stopped' });
    return done('', {});
  },
});

const ONE_QUEUE = '--role: without NATS_URL relay and issuer share an in-process queue, so one process must have both';

const parseRoles = (text: string): readonly Role[] | undefined => {
  if (text === 'all') return allRoles;
  const wanted = text.split(',');
  const known = allRoles.filter((role) => wanted.includes(role));
  return known.length === wanted.length ? known : undefined;
};

export const simulatorCommand = (config: () => Config): Command => ({
  name: 'simulator',
  summary: 'run the authorizer simulator alone until SIGTERM or SIGINT',
  changes: false,
  run: async () => {
    const { createLogger, faultFields } = await import('../config/logger.js');
    const logger = createLogger(config().logLevel, 'stdout');
    const runner = createRunner((name, error) =>
      logger.error({ msg: 'stopping failed', part: name, ...faultFields(error) }),
    );
    const stopAsked = untilSignal(() => logger.fatal({ msg: 'forced to stop' }));
    try {
      const { openSimulator } = await import('../engines/simulator.js');
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
