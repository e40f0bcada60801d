import { randomInt } from 'node:crypto';
import { listedChoices, seededChoices } from './choices.js';
import { playLife } from './life.js';
import { HELP, readOptions } from './options.js';
import { shrink } from './shrink.js';

/** Seeds that nobody chose. */
const FRESH_FROM = 1_000_000;
const FRESH = 900_000_000;

function* freshSeeds(seconds: number): Generator<number> {
  const until = Date.now() + seconds * 1_000;
  for (let seed = FRESH_FROM + randomInt(FRESH); Date.now() < until; seed += 1) yield seed;
}

function* seedsInRow(from: number, count: number): Generator<number> {
  for (let seed = from; seed < from + count; seed += 1) yield seed;
}

const main = async (args: readonly string[]): Promise<number> => {
  const asked = readOptions(args);
  switch (asked.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'wrong':
      process.stderr.write(`${asked.reason}\n\n${HELP}`);
      return 2;
    case 'one':
      return await showLife(asked.seed);
    case 'fresh':
      return await playLives(freshSeeds(asked.seconds));
    case 'row':
      return await playLives(seedsInRow(asked.from, asked.count));
  }
};

const showLife = async (seed: number): Promise<number> => {
  const { history, breaches } = await playLife(seededChoices(seed));
  process.stdout.write(`${[...history, ...breaches.map((what) => `BREACH ${what}`)].join('\n')}\n`);
  return breaches.length === 0 ? 0 : 1;
};

const playLives = async (seeds: Iterable<number>): Promise<number> => {
  const began = Date.now();
  const sums = { lives: 0, steps: 0, crashes: 0, invoices: 0, notes: 0, indeterminate: 0 };
  for (const seed of seeds) {
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

/** Steps that change nothing but what a process knows. */
const ONLY_LOOKS = /: (?:reads?\b|looks up|hears about|claim|place|mark done|keeps a look-up|notes how far|sweeps)/;

/** The steps of a life that changed something, for a person who looks for the cause. */
const inShort = (history: readonly string[]): readonly string[] => history.filter((line) => !ONLY_LOOKS.test(line));

process.exitCode = await main(process.argv.slice(2));
