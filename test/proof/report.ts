import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { drawChart } from '../bench/report/charts.js';
import type { Chart } from '../bench/report.js';
import { withRegion } from '../tools/documents/regions.js';
import { ROOT } from '../tools/root.js';
import type { Verdict } from './judge/judge.js';
import { RAW_FILES, type Raw } from './judge/raw.js';
import { replayCommand } from './options.js';
import { readLines } from './read-lines.js';
import type { Line } from './table.js';

const PAGE = join(ROOT, 'docs/proof.md');
const PICTURES = join(ROOT, 'docs/proof');
const README = join(ROOT, 'README.md');
const OF_README = 'embedded';

/** Points of a chart over time. */
const STEPS = 20;
/** Invoices with more look-ups are one bar. */
const MOST_LOOK_UPS = 8;

/**
 * Writes the figures of a run and their charts into docs/proof.md, each set of engines into a separate section, and the hashes of the raw files beside
 * the charts, as `sha256sum --check` reads them.
 */
export const writeReport = async (
  folder: string,
  raw: Raw,
  verdict: Verdict,
  lines: readonly Line[],
): Promise<void> => {
  const name = raw.run.engines.split(':', 1)[0] ?? 'embedded';
  const charts = await chartsOf(folder, raw, verdict);
  await mkdir(PICTURES, { recursive: true });
  for (const chart of charts) await writeFile(join(PICTURES, `${name}-${chart.name}.svg`), drawChart(chart));
  await writeFile(join(PICTURES, `${name}.sha256`), await hashesOf(folder));
  const text = [
    factsOf(raw),
    `SHA-256 of the raw files: [${name}.sha256](proof/${name}.sha256).`,
    ['| promise | broken | looked at |', '|---|---:|---|', ...lines.map(rowOf)].join('\n'),
    ...(verdict.findings.length === 0
      ? []
      : ['Found:', ...verdict.findings.map(({ name: what, detail }) => `- ${what}: ${detail}`)]),
    ...charts.map((chart) => `![${chart.title}](proof/${name}-${chart.name}.svg)`),
  ].join('\n\n');
  await writeFile(PAGE, withRegion(await readFile(PAGE, 'utf8'), `proof ${name}`, text));
  if (name !== OF_README) return;
  await writeFile(README, withRegion(await readFile(README, 'utf8'), 'proof', readmeLines(verdict, raw, lines)));
};

/** The README shows the run that everybody can repeat with Node alone, in three short lines. */
const readmeLines = ({ counts }: Verdict, { mishaps }: Raw, lines: readonly Line[]): string => {
  const kills = mishaps.filter(({ kind }) => kind === 'kill').length;
  const broken = lines.reduce((sum, line) => sum + (line.broken ?? 0), 0);
  const all = (value: number): string => value.toLocaleString('en');
  return [
    `- **${all(counts.invoices)} invoices**, ${kills} kills, ${mishaps.length - kills} mishaps`,
    `- **${all(counts.events)} events**, ${all(counts.documents)} documents judged`,
    `- **${all(broken)}** promises broken`,
  ].join('\n');
};

const rowOf = ({ promise, figure, broken }: Line): string => `| ${promise} | ${broken ?? ''} | ${figure} |`;

const factsOf = ({ run }: Raw): string => {
  const minutes = ((Date.parse(run.endedAt) - Date.parse(run.beganAt)) / 60_000).toFixed(1);
  return [
    `Seed ${run.seed}, commit \`${run.commit}\`, Node ${run.node}, ${run.engines}; ${run.beganAt}, at least ${run.minutes} minutes of load, ${minutes} minutes in all.`,
    ...(run.options === undefined ? [] : [`The same draws: \`${replayCommand(run)}\`.`]),
    ...run.notMade.map((reason) => `Not made: ${reason}.`),
  ].join('\n');
};

const hashesOf = async (folder: string): Promise<string> => {
  const lines = await Promise.all(
    Object.values(RAW_FILES).map(async (file) => `${await sha256Of(join(folder, file))}  ${file}\n`),
  );
  return lines.join('');
};

const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
};

const chartsOf = async (folder: string, { run, mishaps }: Raw, verdict: Verdict): Promise<readonly Chart[]> => {
  const faults = await readLines<{ at: string }>(join(folder, RAW_FILES.faults));
  const began = Date.parse(run.beganAt);
  const ended = Math.max(began + 1, ...[...mishaps, ...faults].map(({ at }) => Date.parse(at)));
  const over = (instants: readonly { at: string }[]): readonly (readonly [number, number])[] =>
    Array.from({ length: STEPS + 1 }, (_, step) => {
      const until = began + ((ended - began) * step) / STEPS;
      return [
        Math.round((until - began) / 1_000),
        instants.filter(({ at }) => Date.parse(at) <= until).length,
      ] as const;
    });
  const perInvoice = Array.from({ length: MOST_LOOK_UPS + 1 }, (_, count) => ({
    label: count === MOST_LOOK_UPS ? `${count} or more` : String(count),
    value: Object.entries(verdict.lookUpsPerInvoice)
      .filter(([key]) => (count === MOST_LOOK_UPS ? Number(key) >= count : Number(key) === count))
      .reduce((sum, [, invoices]) => sum + invoices, 0),
  }));
  return [
    {
      kind: 'lines',
      name: 'over-time',
      title: 'Kills, other mishaps and faults so far',
      unit: '',
      xTitle: 'seconds',
      logX: false,
      lines: [
        { label: 'kills', points: over(mishaps.filter(({ kind }) => kind === 'kill')) },
        { label: 'other mishaps', points: over(mishaps.filter(({ kind }) => kind !== 'kill')) },
        { label: 'faults', points: over(faults) },
      ],
    },
    {
      kind: 'bars',
      name: 'outcomes',
      title: 'Invoices by outcome',
      unit: '',
      bars: Object.entries(verdict.outcomes)
        .sort()
        .map(([label, value]) => ({ label, value })),
    },
    { kind: 'bars', name: 'look-ups', title: 'Invoices by number of look-ups', unit: '', bars: perInvoice },
  ];
};
