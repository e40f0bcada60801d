import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { allProjections } from '../../../projections/registry.js';
import { readConnection, superuserAddress } from '../../../src/adapters/embedded-postgres/connection-file.js';
import { anchorLog } from '../../../src/app/audit/anchor-log.js';
import { projectionStatus } from '../../../src/projector/status.js';
import { makeDemoCompany } from '../../../src/runtime/commands/first-start.js';
import { type Config, readConfig } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { type Engines, openEngines } from '../../../src/runtime/engines/engines.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { serveParent } from '../child.js';
import { benchCompanies } from './companies.js';
import { type Filled, readFilled, writeFilled } from './filled.js';
import { appendHistory } from './history.js';

/** Of a data folder on which a projector runs. After `minutes` the filling ends early, and the same call continues it. */
export type FillArgument = { env: Record<string, string>; invoices: number; minutes: number };

/** What is made between two looks at the clock. */
const STRETCH = 10_000;

const fill = async (engines: Engines, config: Config, { invoices, minutes }: FillArgument): Promise<Filled> => {
  const before = await readFilled(config.dataDir);
  const now = before?.now ?? systemClock.now();
  let filled = before ?? { invoices, made: 0, now, keys: await makeCompanies(engines, config) };
  const begun = performance.now();
  const from = filled.made;
  while (filled.made < invoices && performance.now() - begun < minutes * 60_000) {
    const to = Math.min(invoices, filled.made + STRETCH);
    await appendHistory(engines.store, { invoices, now, from: filled.made, to });
    filled = { ...filled, made: to };
    await writeFilled(config.dataDir, filled);
    const rate = Math.round(((to - from) / (performance.now() - begun)) * 1_000);
    tell(`${to.toLocaleString('en')} of ${invoices.toLocaleString('en')} invoices, ${rate}/s`);
  }
  await untilProjected(engines);
  if (filled.made === invoices) {
    await anchorLog({ ...engines, clock: systemClock, actor: 'timer:bench' });
    await settleDatabase(config.dataDir);
  }
  tell(`${Math.round((performance.now() - begun) / 1_000)} s with rows`);
  return filled;
};

const tell = (line: string): void => void process.stderr.write(`\n  filled: ${line}`);

const makeCompanies = async (engines: Engines, config: Config): Promise<Filled['keys']> => {
  const [demo, ...others] = benchCompanies();
  const [live, test] = await makeDemoCompany({ engines }, config, systemClock, ['live', 'test'], demo);
  if (live === undefined || test === undefined) throw new Error('the demo company has no keys');
  for (const company of others) await makeDemoCompany({ engines }, config, systemClock, [], company);
  return { live: live.key, test: test.key };
};

const LOOK_EVERY_MS = 1_000;

const untilProjected = async ({ pool, log }: Engines): Promise<void> => {
  const isBehind = async (): Promise<boolean> =>
    (await projectionStatus(allProjections, { db: pool, log, clock: systemClock })).some(
      ({ lagSeconds }) => lagSeconds > 0,
    );
  while (await isBehind()) await pause(LOOK_EVERY_MS);
};

/** Statistics as after hours of service, and no dirty page that a measurement would meet. */
const settleDatabase = async (dataDir: string): Promise<void> => {
  const connection = await readConnection(dataDir);
  if (connection === undefined) throw new Error('the folder has no database');
  const client = new pg.Client(superuserAddress(connection));
  await client.connect();
  try {
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
};

await serveParent<FillArgument, 'fill'>(async (argument) => {
  const parsed = readConfig(argument.env);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const { config } = parsed;
  const logger = createLogger('silent', 'stderr');
  const runner = createRunner(() => undefined);
  const engines = await openEngines({ config, clock: systemClock, logger, runner, startedFor: 'command' });
  return { ready: true, answer: () => fill(engines, config, argument), close: () => runner.stop() };
});
