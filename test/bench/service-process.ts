import { readConnection, superuserAddress } from '../../src/adapters/embedded-postgres/connection-file.js';
import { systemClock } from '../../src/runtime/clock.js';
import { type Role, readConfig } from '../../src/runtime/config.js';
import { makeDemoCompany } from '../../src/runtime/first-start.js';
import { createLogger } from '../../src/runtime/logger.js';
import { startService } from '../../src/runtime/service.js';
import { processorSeconds, serveParent } from './child.js';

/** `certificatesFrom`: the data folder of the simulator whose authority issues the company's certificate. */
export type ServiceArgument = { env: Record<string, string>; roles: readonly Role[]; certificatesFrom?: string };
export type ServiceReady = { origin: string; key: string; connectionString: string };

/** The service as `serve` starts it, with a company and a test key. */
await serveParent<ServiceArgument, 'processor seconds'>(async ({ env, roles, certificatesFrom }) => {
  const parsed = readConfig(env);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const { config } = parsed;
  const service = await startService({
    config,
    roles,
    clock: systemClock,
    logger: createLogger(config.logLevel, 'stdout'),
  });
  const authority = { ...config, dataDir: certificatesFrom ?? config.dataDir };
  const [key] = await makeDemoCompany(service, authority, systemClock, ['test']);
  const connection = await readConnection(config.dataDir);
  if (key === undefined || connection === undefined) throw new Error('the service has no key or no database');
  const ready: ServiceReady = { origin: service.url, key: key.key, connectionString: superuserAddress(connection) };
  return { ready, answer: processorSeconds, close: () => service.stop() };
});
