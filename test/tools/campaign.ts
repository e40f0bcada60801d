import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { ROOT } from './root.js';

const HELP = `Usage: npm run campaign -- [--seed N] [--invoices N] [--engines postgres,eventstore]

Processes of every role are killed, stopped and frozen while the authorizer fails; at least so many invoices are issued
in the whole run. Seed 1, 2000 invoices and both sets of engines unless given. Exit 0: everything held.`;

const ENGINES = ['postgres', 'eventstore'];

/** One in a hundred is refused by the authorizer and so not issued. */
const WITH_REFUSED = 1.02;

const badUsage = (reason: string): never => {
  process.stderr.write(`${reason}\n\n${HELP}\n`);
  process.exit(2);
};

const optionsOf = (argv: readonly string[]) => {
  const text = { type: 'string' } as const;
  try {
    const options = { seed: text, invoices: text, engines: text, help: { type: 'boolean' } } as const;
    return parseArgs({ args: [...argv], options }).values;
  } catch (error) {
    return badUsage(error instanceof Error ? error.message : 'bad usage');
  }
};

const { seed = '1', invoices = '2000', engines = ENGINES.join(','), help } = optionsOf(process.argv.slice(2));
if (help === true) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}
if (!/^\d{1,9}$/.test(seed)) badUsage(`--seed ${seed} is no whole number`);
if (!/^[1-9]\d{0,5}$/.test(invoices)) badUsage(`--invoices ${invoices} is no number of invoices`);
const chosen = engines.split(',');
if (chosen.some((name) => !ENGINES.includes(name))) badUsage(`--engines takes ${ENGINES.join(' and ')}`);

const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'test/vitest.config.ts', 'test/crash/campaign.test.ts'],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      CRASH_FULL: '1',
      CAMPAIGN_SEED: seed,
      CAMPAIGN_INVOICES: String(Math.ceil((Number(invoices) * WITH_REFUSED) / chosen.length)),
      CAMPAIGN_ENGINES: engines,
    },
  },
);
process.exitCode = status ?? 1;
