import { parseArgs } from 'node:util';
import { firstLineOf } from '../proof/options.js';

/** What is played: one life with its history, seeds in a row, or fresh seeds for so long. */
type Asked =
  | { kind: 'one'; seed: number }
  | { kind: 'row'; from: number; count: number }
  | { kind: 'fresh'; seconds: number }
  | { kind: 'help' }
  | { kind: 'wrong'; reason: string };

export const HELP = `Usage: npm run simulate -- [--seeds N] [--from N] [--seconds N] [--seed N]

Whole lives of invoices in one process at a virtual clock: the product's own acceptance, issuing, cancelling, relay, issuer and sweep
over engines in memory, with crashes before every call, work that comes twice and in any order, appends without an answer and an
authorizer that fails. --seeds N plays the seeds from --from on (default 1000 from 1), --seconds N fresh seeds for so long,
--seed N one of them with its history. Exit 1: a seed fails; it is made short and shown. 2: bad usage, also no seed or no second.
`;

const FLAGS = {
  seeds: { type: 'string' },
  from: { type: 'string' },
  seconds: { type: 'string' },
  seed: { type: 'string' },
  help: { type: 'boolean' },
} as const;

const WHOLE = /^\d{1,9}$/;
/** A run that plays nothing would find nothing. */
const NOT_ZERO = /^0*[1-9]\d*$/;

export const readOptions = (args: readonly string[]): Asked => {
  let flags: ReturnType<typeof parse>;
  try {
    flags = parse(args);
  } catch (error) {
    return { kind: 'wrong', reason: firstLineOf(error) };
  }
  const { help, seed, seconds, seeds = '1000', from = '1' } = flags;
  if (help === true) return { kind: 'help' };
  for (const [name, text = '1'] of Object.entries({ seed, seconds, seeds, from }))
    if (!WHOLE.test(text))
      return { kind: 'wrong', reason: `--${name} ${text} is no whole number of nine digits at most` };
  for (const [name, text = '1'] of Object.entries({ seconds, seeds }))
    if (!NOT_ZERO.test(text)) return { kind: 'wrong', reason: `--${name} ${text} plays nothing` };
  if (seed !== undefined) return { kind: 'one', seed: Number(seed) };
  if (seconds !== undefined) return { kind: 'fresh', seconds: Number(seconds) };
  return { kind: 'row', from: Number(from), count: Number(seeds) };
};

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options: FLAGS }).values;
