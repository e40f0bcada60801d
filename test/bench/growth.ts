import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from './child.js';
import type { FillArgument } from './growth/fill-process.js';
import { type Filled, readFilled } from './growth/filled.js';
import { measurePass, type Pass, timed } from './growth/pass.js';
import { atMost, type BenchResult, type Chart, type Row } from './report.js';
import { median } from './rounds.js';
import { serve } from './serve.js';

/**
 * `folder`: keeps the filled data there, and uses what an earlier run has filled. `fillMinutes`: only fills, and ends after about so many minutes; the
 * next run continues.
 */
export type GrowthOptions = {
  sizes?: readonly number[] | undefined;
  folder?: string | undefined;
  fillMinutes?: number | undefined;
};

const GROWTH_SIZES: readonly number[] = [10_000, 100_000, 1_000_000];

/** The double of EventStoreDB keeps its log in memory: 10 KB an invoice. */
const DOUBLE_SIZES: readonly number[] = [10_000, 100_000];

const PASSES = 3;
const AIM = 1.2;

/** Rates far above those of the bench; no reconciliation, because the simulator does not know the notes of a generated history. */
const ENV = { RATE_WRITE_PER_MINUTE: '1000000', RATE_READ_PER_MINUTE: '1000000', RECONCILE_SAMPLE_PERCENT: '0' };

type Size = { invoices: number; env: Record<string, string>; filled: Filled; passes: Pass[] };

/** The same with the log in a double of EventStoreDB for each size, in processes of their own. Its figures say nothing about the real engine's pace. */
export const benchGrowthOfDouble = async ({ sizes = DOUBLE_SIZES }: GrowthOptions): Promise<BenchResult> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-growth-'));
  const doubles: { stop(): Promise<void> }[] = [];
  try {
    const urls: Record<number, string> = {};
    for (const size of sizes) {
      const double = await startChild<string>('growth/eventstore-process.ts', null, {
        flags: ['--max-old-space-size=8192'],
      });
      doubles.push(double);
      urls[size] = double.ready;
    }
    const { rows, charts } = await measured(home, { sizes }, (size) => ({ EVENTSTORE_URL: urls[size] ?? '' }));
    return {
      rows: rows.map((row) => ({ ...row, name: row.name.replace('growth:', 'growth, EventStoreDB double:') })),
      charts: charts.map((chart) => ({
        ...chart,
        name: 'growth-eventstore',
        title: `${chart.title}, EventStoreDB double`,
      })),
    };
  } finally {
    for (const double of doubles) await double.stop();
    await rm(home, { recursive: true, force: true });
  }
};

/**
 * The same calls on histories of different sizes: what costs more on the largest than on the smallest. The passes take turns, so that a slow
 * moment of the machine meets every size (aim: test/bench/README.md).
 */
export const benchGrowth = async (options: GrowthOptions): Promise<BenchResult> => {
  const home = options.folder ?? (await mkdtemp(join(tmpdir(), 'nfse-growth-')));
  try {
    return await measured(home, options, () => ({}));
  } finally {
    if (options.folder === undefined) await rm(home, { recursive: true, force: true });
  }
};

const measured = async (
  home: string,
  { sizes = GROWTH_SIZES, fillMinutes }: GrowthOptions,
  envOf: (size: number) => Record<string, string>,
): Promise<BenchResult> => {
  await mkdir(home, { recursive: true });
  // As root the database runs as another user, who must be able to pass through.
  await chmod(home, 0o711);
  const filled: Size[] = [];
  for (const invoices of sizes) {
    const env = { ...ENV, DATA_DIR: join(home, String(invoices)), ...envOf(invoices) };
    const minutes = fillMinutes ?? Number.MAX_SAFE_INTEGER;
    filled.push({ invoices, env, filled: await fillFolder({ env, invoices, minutes }), passes: [] });
  }
  if (fillMinutes !== undefined) return { rows: [], charts: [] };
  for (let pass = 0; pass < PASSES; pass += 1)
    for (const size of filled) size.passes.push(await measurePass(size.env, size.filled));
  return { rows: rowsOf(filled), charts: [chartOf(filled)] };
};

type Figure = { name: string; unit: string; of(size: Size): number };

const quantileOf =
  (name: Pass['times'] extends Record<infer Name, number[]> ? Name : never, part: number) =>
  ({ passes }: Size): number => {
    const all = passes.flatMap(({ times }) => times[name]).sort((one, other) => one - other);
    return all[Math.min(all.length - 1, Math.floor(all.length * part))] ?? Number.NaN;
  };

const medianOf =
  (figure: (pass: Pass) => number) =>
  ({ passes }: Size): number =>
    median(passes.map(figure));

const TAILS: ReadonlySet<string> = new Set(['POST', 'GET', 'find by reference']);

const figures: readonly Figure[] = [
  ...timed.flatMap((name): Figure[] => [
    { name: `${name}, p50`, unit: 'ms', of: quantileOf(name, 0.5) },
    ...(TAILS.has(name) ? [{ name: `${name}, p99`, unit: 'ms', of: quantileOf(name, 0.99) }] : []),
  ]),
  { name: 'start to ready', unit: 's', of: medianOf(({ readySeconds }) => readySeconds) },
  { name: 'memory of the process', unit: 'MB', of: medianOf(({ rssMb }) => rssMb) },
  {
    name: 'disk of an invoice',
    unit: 'KB',
    of: (size) => medianOf(({ diskBytes }) => diskBytes)(size) / 1_024 / size.invoices,
  },
];

const rowsOf = (sizes: readonly Size[]): readonly Row[] => {
  const [smallest] = sizes;
  const largest = sizes.at(-1);
  if (smallest === undefined || largest === undefined) throw new Error('growth needs sizes');
  return figures.map(({ name, unit, of }) => {
    const ratio = of(largest) / of(smallest);
    const detail = sizes.map((size) => `${size.invoices.toLocaleString('en')}: ${of(size).toFixed(1)}`).join(', ');
    return {
      name: `growth: ${name}`,
      figure: `${of(largest).toFixed(1)} ${unit}`,
      floor: `${of(smallest).toFixed(1)} ${unit}`,
      ratio,
      aim: atMost(AIM, ratio),
      detail: `${unit} at ${detail}`,
    };
  });
};

const DRAWN: ReadonlySet<string> = new Set([
  'POST, p50',
  'GET, p50',
  'find by reference, p50',
  'console: overview, p50',
  "the sweeper's pass, p50",
  'start to ready',
  'memory of the process',
  'disk of an invoice',
]);

/** Each figure as a multiple of that of the smallest history. */
const chartOf = (sizes: readonly Size[]): Chart => ({
  kind: 'lines',
  name: 'growth',
  title: 'Each figure as a multiple of that of the smallest history',
  unit: '',
  xTitle: 'invoices',
  logX: true,
  lines: figures.flatMap(({ name, of }) => {
    const [smallest] = sizes;
    if (smallest === undefined || !DRAWN.has(name)) return [];
    return [{ label: name, points: sizes.map((size) => [size.invoices, of(size) / of(smallest)] as const) }];
  }),
});

/**
 * Fills a data folder with a history; the rows follow meanwhile, as in production. A filled folder is left as it is, and a fill that ended early
 * is continued. The answer says how many there are.
 */
const fillFolder = async (argument: FillArgument): Promise<Filled> => {
  const { invoices } = argument;
  const known = await readFilled(argument.env.DATA_DIR ?? '');
  if (known?.made === invoices) return known;
  const env = { ...argument.env, ...PATIENT };
  const projecting = await serve(env, '--role', 'projector');
  try {
    const filling = await startChild<true, 'fill', Filled>(
      'growth/fill-process.ts',
      { ...argument, env },
      {
        flags: ROOMY,
      },
    );
    try {
      return await filling.ask('fill');
    } finally {
      await filling.stop();
    }
  } finally {
    await projecting.stop();
  }
};

/** Events live for a moment: a large young generation spares most of the collector's work. */
const ROOMY = ['--max-semi-space-size=64'];

/** More appends are under way than a service has, so that a connection may be long in coming. */
const PATIENT = { DATABASE_CONNECT_TIMEOUT_S: '60' };
