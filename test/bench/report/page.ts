import { cell } from '../../tools/documents/regions.js';
import { type Bar, type Chart, cellsOf, EDIT_ROW, type Row } from '../report.js';
import { drawChart } from './charts.js';
import type { KeptResult } from './kept.js';

const FOLDER = 'docs/performance';

/** The figures of the README, by the names of their rows. */
const README_ROWS: readonly (readonly [row: string, says: string])[] = [
  ['accept (POST)', 'accepted'],
  ['read (GET by id)', 'read by id'],
  ['whole way', 'authorized'],
];

/** docs/performance.md and its pictures, by their paths. */
export const performancePages = (results: readonly KeptResult[]): Readonly<Record<string, string>> => {
  const charts = [...ratioCharts(results), ...results.flatMap(({ result }) => result.charts)];
  const pictures = charts.map((chart) => [`${FOLDER}/${chart.name}.svg`, drawChart(chart)] as const);
  return { 'docs/performance.md': page(results), ...Object.fromEntries(pictures) };
};

const page = (results: readonly KeptResult[]): string =>
  `${[
    '# Performance',
    '`npm run bench -- report` measures and writes this page; do not edit it. `npm run bench -- report --with growth,soak` also runs what takes long, ' +
      'and `npm run bench -- report accept read` measures some groups again. What was not run keeps its last result, with its date and commit.',
    'A ratio compares with the floor: bare work, or a peer, on the same machine in the same run. It says more about the code than a rate does, and ' +
      'a busy machine lowers both. What each bench measures: [test/bench](../test/bench/README.md).',
    '## In three lines',
    readmeLines(results),
    '## Ratios',
    ...ratioCharts(results).map(picture),
    ...results.flatMap(section),
  ].join('\n\n')}\n`;

/** Three list items; a figure that nobody has measured is left out. */
export const readmeLines = (results: readonly KeptResult[]): string => {
  const rows = results.flatMap(({ result }) => result.rows);
  return README_ROWS.flatMap(([name, says]) => {
    const row = rows.find((one) => one.name === name);
    return row === undefined ? [] : [`- **${row.figure}** ${says}${ratioOf(row)}`];
  }).join('\n');
};

const ratioOf = ({ ratio }: Row): string => (ratio === undefined ? '' : ` (ratio ${ratio.toFixed(2)})`);

const section = ({ group, at, commit, machine, versions, load, seconds, result }: KeptResult): readonly string[] => [
  `## ${group}`,
  `${at.replace('T', ' ')} UTC, commit ${commit}, ${seconds} s. ${machine}; ${versions}; load average ${load[0]} before, ${load[1]} after.`,
  table(result.rows.filter((row) => !isFoundEdit(row))),
  ...foundEdits(result.rows),
  ...result.charts.map(picture),
];

/** An edit of the log that was found at every place. The page of the audit has the table of edits. */
const isFoundEdit = ({ name, ratio }: Row): boolean => name.startsWith(EDIT_ROW) && ratio === 1;

const foundEdits = (rows: readonly Row[]): readonly string[] => {
  const found = rows.filter(isFoundEdit).length;
  if (found === 0) return [];
  return [
    `${found} kinds of edits, each tried at random places, were always found: [which, and as what](operations/audit.md#tried).`,
  ];
};

const table = (rows: readonly Row[]): string =>
  [
    '| | figure | floor | ratio | aim | | detail |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${cellsOf(row)
          .map((text) => cell(text.trim()))
          .join(' | ')} |`,
    ),
  ].join('\n');

const picture = ({ name, title }: Chart): string => `![${title}](performance/${name}.svg)`;

/** Every rate with a floor; a ratio that has to be small is none. */
const ratioCharts = (results: readonly KeptResult[]): readonly Chart[] => {
  const bars = results.flatMap(({ result }) => result.rows.flatMap(barOf));
  if (bars.length === 0) return [];
  return [{ kind: 'bars', name: 'ratios', title: 'Rate as a part of the floor; the mark is the aim', unit: '', bars }];
};

const barOf = ({ name, floor, ratio, aim }: Row): readonly Bar[] => {
  if (ratio === undefined || floor === undefined || (aim?.unit === '' && aim.sign !== '>=')) return [];
  const label = name.trim();
  return [aim?.unit === '' ? { label, value: ratio, mark: aim.limit } : { label, value: ratio }];
};
