import { readConnection, superuserAddress } from '../../src/adapters/embedded-postgres/connection-file.js';
import { unreachable } from '../../src/domain/common/unreachable.js';
import { makeDemoCompany } from '../../src/runtime/commands/first-start.js';
import { type Role, readConfig } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { startService } from '../../src/runtime/service.js';
import { processorSeconds, serveParent } from './child.js';
import { watchLoop, watchTurns } from './loop.js';

/** `certificatesFrom`: the data folder of the simulator whose authority issues the company's certificate. */
export type ServiceArgument = { env: Record<string, string>; roles: readonly Role[]; certificatesFrom?: string };
/** `liveKey`: a key of the same company with a separate quota. */
export type ServiceReady = { origin: string; key: string; liveKey: string; connectionString: string };

/** Since the last such question, in ms: how long the event loop stood still, and the most processor time of one of its turns. */
export type ServiceQuestion = 'processor seconds' | 'longest block' | 'busiest turn';

/** Begins to watch at the first question, whose answer covers no time. So the watch costs other groups nothing. */
const watching = (): ((question: ServiceQuestion) => Promise<number>) => {
  let blocks: ReturnType<typeof watchLoop> | undefined;
  let turns: ReturnType<typeof watchTurns> | undefined;
  return async (question) => {
    switch (question) {
      case 'processor seconds':
        return await processorSeconds();
      case 'longest block': {
        const seen = blocks?.();
        blocks = watchLoop();
        return seen?.longestMs ?? 0;
      }
      case 'busiest turn': {
        const busiest = turns?.() ?? 0;
        turns = watchTurns();
        return busiest;
      }
      default:
        return unreachable(question);
    }
  };
};

/** The service as `serve` starts it, with a company and a test key. */
await serveParent<ServiceArgument, ServiceQuestion>(async ({ env, roles, certificatesFrom }) => {
  const parsed = readConfig(env);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const { config } = parsed;
  const service = await startService({
    config,
    roles,
    clock: systemClock,
    simulatorProcess: true,
    logger: createLogger(config.logLevel, 'stdout'),
  });
  const authority = { ...config, dataDir: certificatesFrom ?? config.dataDir };
  const [key, liveKey] = await makeDemoCompany(service, authority, systemClock, ['test', 'live']);
  const connection = await readConnection(config.dataDir);
  if (key === undefined || liveKey === undefined || connection === undefined)
    throw new Error('the service has no keys or no database');
  const connectionString = superuserAddress(connection);
  const ready: ServiceReady = { origin: service.url, key: key.key, liveKey: liveKey.key, connectionString };
  return { ready, answer: watching(), close: () => service.stop() };
});
