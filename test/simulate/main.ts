import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { listedChoices, seededChoices } from './choices.js';
import { inShort } from './history.js';
import { playLife } from './life.js';
import { shrink } from './shrink.js';

const HELP = `Usage: npm run simulate -- [--seeds N] [--from N] [--seconds N] [--seed N]

Whole lives of invoices in one process at a virtual clock: the product's own acceptance, issuing, cancelling, relay, issuer and sweep
over engines in memory, with crashes before every call, work that comes twice and in any order, appends without an answer and an
authorizer that fails. --seeds N plays the seeds from --from on (default 1000 from 1), --seconds N fresh seeds for so long,
--seed N one of them with its history. Exit 1: a seed fails; it is made short and shown.
`;

const FLAGS = {
  seeds: { type: 'string' },
  from: { type: 'string' },
  seconds: { type: 'string' },
  seed: { type: 'string' },
  help: { type: 'boolean' },
} as const;

const wholeOf = (name: string, text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  process.stderr.write(`--${name} ${text} is no whole number\n\n${HELP}`);
  process.exit(2);
};

/** Seeds that nobody chose. */
const FRESH_FROM = 1_000_000;
const FRESH = 900_000_000;

function* seedsOf(flags: { seeds?: string; from?: string; seconds?: string }): Generator<number> {
  if (flags.seconds !== undefined) {
    const until = Date.now() + wholeOf('seconds', flags.seconds) * 1_000;
    for (let seed = FRESH_FROM + randomInt(FRESH); Date.now() < until; seed += 1) yield seed;
    return;
  }
  const from = wholeOf('from', flags.from ?? '1');
  const count = wholeOf('seeds', flags.seeds ?? '1000');
  for (let seed = from; seed < from + count; seed += 1) yield seed;
}

const main = async (args: readonly string[]): Promise<number> => {
  const { values } = parseArgs({ args: [...args], options: FLAGS });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.seed !== undefined) {
    const life = await playLife(seededChoices(wholeOf('seed', values.seed)));
    process.stdout.write(`${[...life.history, ...life.breaches.map((what) => `BREACH ${what}`)].join('\n')}\n`);
    return life.breaches.length === 0 ? 0 : 1;
  }
  const began = Date.now();
  const sums = { lives: 0, steps: 0, crashes: 0, invoices: 0, notes: 0, indeterminate: 0 };
  for (const seed of seedsOf(values)) {
    const { breaches, choices, counts } = await playLife(seededChoices(seed));
    sums.lives += 1;
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) sums[name] += counts[name];
    if (breaches.length > 0) {
      process.stdout.write(`seed ${seed}: ${breaches.join('; ')}\n`);
      await showShort(choices);
      return 1;
    }
  }
  const perMinute = Math.round((sums.lives * 60_000) / Math.max(1, Date.now() - began));
  const { lives, steps, crashes, invoices, notes, indeterminate } = sums;
  process.stdout.write(
    `${lives} lives (${perMinute.toLocaleString('en')} a minute): ${steps} steps, ${crashes} crashes, ${invoices} invoices, ${notes} notes, ${indeterminate} indeterminate; nothing was found\n`,
  );
  return 0;
};

const showShort = async (choices: readonly number[]): Promise<void> => {
  const short = await shrink(choices, async (list) => (await playLife(listedChoices(list))).breaches.length > 0);
  const { history, breaches } = await playLife(listedChoices(short));
  process.stdout.write(`${short.length} of ${choices.length} choices are left: ${JSON.stringify(short)}\n`);
  process.stdout.write(`${[...inShort(history), ...breaches.map((what) => `BREACH ${what}`)].join('\n')}\n`);
};

process.exitCode = await main(process.argv.slice(2));
