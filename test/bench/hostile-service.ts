import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { makeDemoCompany } from '../../src/runtime/commands/first-start.js';
import { readConfig, roles } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { startService } from '../../src/runtime/service.js';
import { serveParent } from './child.js';
import { type LoopBlocks, watchLoop } from './loop.js';

/** `keys`: test keys, of the flooding company first. */
export type HostileReady = { origin: string; keys: { flooding: string; other: string } };

/** What the service's process was like since the question before this one. */
export type HostileAnswer = LoopBlocks & { rssMb: number; processorSeconds: number };

const SECOND_CNPJ = '98765432000198';

const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** The service as `serve` starts it by default, with everything embedded and two companies. */
await serveParent<{ env: Record<string, string> }, 'since then'>(async ({ env }) => {
  const parsed = readConfig(env);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const { config } = parsed;
  const logger = createLogger(config.logLevel, 'stdout');
  const service = await startService({ config, roles, clock: systemClock, simulatorProcess: true, logger });
  const keyOf = async (cnpj: string): Promise<string> => {
    const registration = { ...demoCompany(), cnpj };
    const [made] = await makeDemoCompany(service, config, systemClock, ['test'], registration);
    if (made === undefined) throw new Error('the service made no key');
    return made.key;
  };
  const keys = { flooding: await keyOf(demoCompany().cnpj), other: await keyOf(SECOND_CNPJ) };
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
  const ready: HostileReady = { origin: service.url, keys };
  return { ready, answer, close: () => service.stop() };
});
