import { readConfig } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { openSimulator } from '../../src/runtime/engines/simulator.js';
import { serveParent } from './child.js';

export type SimulatorReady = { urls: { test: string; live: string }; caPem: string };

/** The simulator in a separate process, as `nfse simulator` runs it. */
await serveParent<{ dataDir: string }, never>(async ({ dataDir }) => {
  const parsed = readConfig({ DATA_DIR: dataDir });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const runner = createRunner((name) => {
    throw new Error(`the simulator's ${name} did not stop`);
  });
  const { urls, caPem } = await openSimulator(parsed.config, systemClock, createLogger('silent', 'stderr'), runner);
  const ready: SimulatorReady = { urls, caPem };
  return { ready, close: () => runner.stop() };
});
