import { makeDemoCompany } from '../../src/runtime/commands/first-start.js';
import { readConfig, roles } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { startService } from '../../src/runtime/service.js';
import { serveParent } from './child.js';
import { benchCompanies } from './growth/companies.js';
import { type LoopBlocks, watchLoop } from './loop.js';

type HostileArgument = { env: Record<string, string>; companies: number };

/** `keys`: a test key of each company. */
export type HostileReady = { origin: string; opsUrl: string; keys: readonly string[] };

/** What the service's process was like since the question before this one. */
export type HostileAnswer = LoopBlocks & { rssMb: number; processorSeconds: number };

const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** The service as `serve` starts it by default, with everything embedded and several companies. */
await serveParent<HostileArgument, 'since then'>(async ({ env, companies }) => {
  const parsed = readConfig(env);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const { config } = parsed;
  const logger = createLogger(config.logLevel, 'stdout');
  const service = await startService({ config, roles, clock: systemClock, simulatorProcess: true, logger });
  const keys: string[] = [];
  for (const company of benchCompanies().slice(0, companies)) {
    const [made] = await makeDemoCompany(service, config, systemClock, ['test'], company);
    if (made === undefined) throw new Error('the service made no key');
    keys.push(made.key);
  }
  let seen = watchLoop();
  let used = processorSeconds();
  const answer = async (): Promise<HostileAnswer> => {
    const since = {
      ...seen(),
      rssMb: process.memoryUsage.rss() / 1_048_576,
      processorSeconds: processorSeconds() - used,
    };
    seen = watchLoop();
    used = processorSeconds();
    return since;
  };
  const ready: HostileReady = { origin: service.url, opsUrl: service.opsUrl, keys };
  return { ready, answer, close: () => service.stop() };
});
