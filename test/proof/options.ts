import { parseArgs } from 'node:util';
import type { RunFacts } from './judge/raw.js';

export const ENGINE_NAMES = ['embedded', 'postgres-nats', 'eventstore'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

export type ProofOptions = {
  minutes: number;
  seed: number;
  /** Ends of the service by SIGKILL. */
  kills: number;
  /** The load lasts until so many are accepted, also past the minutes. */
  invoices: number;
  /** At work at the same time. */
  clients: number;
  engines: EngineName;
  /** Of the raw data; undefined: a new one in the temporary folder of the system. */
  out: string | undefined;
  /** Writes the figures and charts of docs/proof.md. */
  writesReport: boolean;
};

type Asked =
  | { kind: 'run'; options: ProofOptions }
  | { kind: 'judge'; folder: string; writesReport: boolean }
  | { kind: 'help' }
  | { kind: 'wrong'; reason: string };

export const HELP = `Usage: npm run proof -- [options]

The service runs as its user starts it, beside the simulator of the authorizer. Clients issue, repeat, race and vanish; the
authorizer fails in every way it can; processes and engines are killed and frozen, and the network is cut. Then a judge that shares
no code with the service compares what clients were told with what the authorizer holds.

  --minutes N        minutes of load (default 5); longer where the mishaps take longer
  --kills N          ends of the service by SIGKILL (default 6 a minute)
  --invoices N       the load goes on until so many are accepted (default 0)
  --clients N        at work at the same time (default 10)
  --seed N           of all draws (default: chosen and printed)
  --replay N         the draws of the run of that seed: the same wishes and faults; with the other options of that run, as
                     its end prints them, also the same mishaps in the same order
  --engines NAME     ${ENGINE_NAMES.join(', ')} (default embedded)
  --out FOLDER       of the raw data, without those of another run (default: a new temporary folder)
  --judge FOLDER     judges the raw data of an earlier run again
  --report           writes figures and charts of the run to docs/proof.md

postgres-nats starts PostgreSQL and nats-server, or takes TEST_DATABASE_URL and TEST_NATS_URL; eventstore takes
TEST_EVENTSTORE_URL, and kills the server where TEST_EVENTSTORE_COMMAND starts it in the foreground over an empty log.
Exit 0: everything that was judged held. 1: something was not as promised; the command of a replay is printed. 2: bad usage, or
a folder that holds no whole raw data to judge, or those of another run. 130: broken off by a signal.
`;

/** The command that draws again what a run drew, as far as the run has kept its options. */
export const replayCommand = ({ seed, minutes, options }: Pick<RunFacts, 'seed' | 'minutes' | 'options'>): string => {
  const { kills, invoices, clients, engines } = options ?? {};
  const given = Object.entries({ replay: seed, minutes, kills, invoices, clients, engines }).flatMap(([name, value]) =>
    value === undefined ? [] : `--${name} ${value}`,
  );
  return `npm run proof -- ${given.join(' ')}`;
};

const KILLS_PER_MINUTE = 6;

const FLAGS = {
  minutes: { type: 'string' },
  seed: { type: 'string' },
  replay: { type: 'string' },
  kills: { type: 'string' },
  invoices: { type: 'string' },
  clients: { type: 'string' },
  engines: { type: 'string' },
  out: { type: 'string' },
  judge: { type: 'string' },
  report: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Reads the command line; `chosen` is the seed of a run that names none. */
export const readOptions = (args: readonly string[], chosen: number): Asked => {
  let flags: ReturnType<typeof parse>;
  try {
    flags = parse(args);
  } catch (error) {
    return { kind: 'wrong', reason: firstLineOf(error) };
  }
  if (flags.help === true) return { kind: 'help' };
  if (flags.judge !== undefined) return { kind: 'judge', folder: flags.judge, writesReport: flags.report === true };
  const { minutes = '5', invoices = '0', engines = 'embedded', clients = '10', out } = flags;
  const seed = flags.replay ?? flags.seed ?? String(chosen);
  if (!/^\d{1,3}(?:\.\d{1,3})?$/.test(minutes) || Number(minutes) === 0)
    return { kind: 'wrong', reason: `--minutes ${minutes} is no number of minutes` };
  if (!/^\d{1,9}$/.test(seed))
    return { kind: 'wrong', reason: `the seed ${seed} is no whole number of nine digits at most` };
  const kills = flags.kills ?? String(Math.ceil(Number(minutes) * KILLS_PER_MINUTE));
  if (!/^\d{1,5}$/.test(kills)) return { kind: 'wrong', reason: `--kills ${kills} is no number` };
  if (!/^\d{1,6}$/.test(invoices)) return { kind: 'wrong', reason: `--invoices ${invoices} is no number` };
  if (!/^[1-9]\d{0,2}$/.test(clients)) return { kind: 'wrong', reason: `--clients ${clients} is no number of clients` };
  const engine = ENGINE_NAMES.find((name) => name === engines);
  if (engine === undefined) return { kind: 'wrong', reason: `--engines takes ${ENGINE_NAMES.join(', ')}` };
  return {
    kind: 'run',
    options: {
      minutes: Number(minutes),
      seed: Number(seed),
      kills: Number(kills),
      invoices: Number(invoices),
      clients: Number(clients),
      engines: engine,
      out,
      writesReport: flags.report === true,
    },
  };
};

/** Node's advice about a wrong flag has several lines. */
export const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : 'bad usage').split('\n', 1)[0] ?? '';

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options: FLAGS }).values;
