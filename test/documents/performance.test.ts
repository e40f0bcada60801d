import { describe, expect, it } from 'vitest';
import { drawChart } from '../bench/report/charts.js';
import type { KeptResult } from '../bench/report/kept.js';
import { performancePages, readmeLines } from '../bench/report/page.js';
import { reportPages } from '../bench/report/write.js';
import { atLeast, atMost, type Chart, type Row } from '../bench/report.js';
import { flatRows, type Sample, verdictOf } from '../bench/soak/flat.js';
import { readPage } from '../tools/documents/pages.js';

const kept = (rows: readonly Row[], charts: readonly Chart[] = []): KeptResult => ({
  group: 'accept',
  at: '2026-11-23T04:05',
  commit: 'abc1234',
  machine: '2 cores of a processor, 23 GB, linux 6',
  versions: 'Node 24.1.0, PostgreSQL 18.4.0',
  load: [0.2, 2.1],
  seconds: 31,
  result: { rows, charts },
});

const accept: Row = {
  name: 'accept (POST)',
  figure: '896 requests/s',
  floor: '1,792 requests/s',
  ratio: 0.5,
  aim: atLeast(0.4, 0.5),
  detail: '32 in flight | p50 1 ms',
};

const growing: Row = { name: 'growth: POST', figure: '3 ms', floor: '1 ms', ratio: 3, aim: atMost(1.2, 3), detail: '' };

describe('the page of the measured figures', () => {
  const results: readonly KeptResult[] = JSON.parse(readPage('docs/performance/results.json'));

  it.each(Object.entries(reportPages(results)))(
    '%s follows from docs/performance/results.json; if not: npm run bench -- report',
    (path, text) => {
      expect(readPage(path) === text, `${path} is not what the results say`).toBe(true);
    },
  );

  it('has the same three lines as the README', () => {
    const lines = readmeLines(results);
    expect(lines.split('\n')).toHaveLength(3);
    expect(readPage('docs/performance.md')).toContain(lines);
    expect(readPage('README.md')).toContain(lines);
  });

  it('says of each group what it was measured on', () => {
    for (const { group, at, commit } of results)
      expect(readPage('docs/performance.md')).toContain(
        `## ${group}\n\n${at.replace('T', ' ')} UTC, commit ${commit}, `,
      );
    expect(results.every(({ load }) => load.length === 2)).toBe(true);
  });
});

describe('a page of results', () => {
  it('shows a figure beside its floor and its aim, met or not', () => {
    const { 'docs/performance.md': page } = performancePages([kept([accept, growing])]);
    expect(page).toContain(
      '| accept (POST) | 896 requests/s | 1,792 requests/s | 0.50 | >= 0.4 | ok | 32 in flight \\| p50 1 ms |',
    );
    expect(page).toContain('| growth: POST | 3 ms | 1 ms | 3.00 | <= 1.2 | MISSED |  |');
    expect(page).toContain('2026-11-23 04:05 UTC, commit abc1234, 31 s. 2 cores of a processor, 23 GB, linux 6; ');
    expect(page).toContain('load average 0.2 before, 2.1 after.');
  });

  it('draws rates beside the floor, not what has to be small, and the charts of a bench', () => {
    const chart: Chart = { kind: 'bars', name: 'stages', title: 'Stages', unit: ' ms', bars: [] };
    const pages = performancePages([kept([accept, growing], [chart])]);
    expect(Object.keys(pages)).toEqual([
      'docs/performance.md',
      'docs/performance/ratios.svg',
      'docs/performance/stages.svg',
    ]);
    expect(pages['docs/performance/ratios.svg']).toContain('>accept (POST)<');
    expect(pages['docs/performance/ratios.svg']).not.toContain('growth');
    expect(pages['docs/performance.md']).toContain('![Stages](performance/stages.svg)');
  });

  it('gives the README a line for each figure that was measured', () => {
    expect(readmeLines([kept([accept])])).toBe('- **896 requests/s** accepted (ratio 0.50)');
    expect(readmeLines([])).toBe('');
  });
});

describe('a soak', () => {
  const TIMES = { POST: [5, 9], GET: [2, 4], find: [2, 4], XML: [3, 5], PDF: [4, 60] };
  const flat = (minute: number): Sample => ({
    minute,
    rssMb: 400 + (minute % 2),
    times: TIMES,
    underWay: 20,
    depth: 8,
    lagSeconds: 0,
    refused: 0,
  });
  const verdict = (change: (minute: number) => Partial<Sample>) =>
    verdictOf(flatRows(Array.from({ length: 30 }, (_, minute) => ({ ...flat(minute), ...change(minute) }))));

  it('is flat when its second half is as its first', () => {
    expect(verdict(() => ({}))).toBe('memory, latency and queue are flat');
  });

  it('may be anything in its first sixth, and differ a little', () => {
    expect(verdict((minute) => (minute < 5 ? { rssMb: 100, depth: 900 } : {}))).toContain('are flat');
    expect(verdict((minute) => ({ times: { ...TIMES, GET: [2 + minute / 20] } }))).toContain('are flat');
  });

  it.each<[string, (minute: number) => Partial<Sample>]>([
    ['soak: memory', (minute) => ({ rssMb: 400 + 10 * minute })],
    ['soak: under way', (minute) => ({ underWay: 20 + 5 * minute })],
    ['soak: queue', (minute) => ({ depth: 5 * minute })],
    ['soak: PDF, p99', (minute) => ({ times: { ...TIMES, PDF: [...Array<number>(30).fill(4), 60 + 4 * minute] } })],
    ['soak: refused', (minute) => ({ refused: minute === 20 ? 1 : 0 })],
  ])('is not flat when %s grows, which fails the run', (name, change) => {
    expect(verdict(change)).toBe(`NOT flat: ${name}`);
  });
});

describe('a chart', () => {
  it('has bars as long as their values, and a mark at the aim', () => {
    const bars = [
      { label: 'a < b', value: 1, mark: 2 },
      { label: 'c', value: 2 },
    ];
    const svg = drawChart({ kind: 'bars', name: 'x', title: 'X', unit: ' ms', bars });
    const widths = [...svg.matchAll(/<rect x="250" y="\d+" width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths).toEqual([190, 380]);
    expect(svg).toContain('>a &lt; b<');
    expect(svg).toContain('>2 ms<');
    expect(svg.match(/<line /g)).toHaveLength(1);
  });

  it('has lines from left to right, lower values lower', () => {
    const points = [
      [10, 1],
      [100, 1],
      [1_000, 2],
    ] as const;
    const lines = [{ label: 'one', points }];
    const drawn = (logX: boolean) =>
      drawChart({ kind: 'lines', name: 'x', title: 'X', unit: '', xTitle: 'invoices', logX, lines });
    const placesOf = (svg: string) =>
      (/<polyline points="([^"]+)"/.exec(svg)?.[1] ?? '').split(' ').map((point) => point.split(',').map(Number));
    const [first, second, third] = placesOf(drawn(true));
    expect([first?.[0], second?.[0], third?.[0]]).toEqual([60, 285, 510]);
    expect(first?.[1]).toBe(second?.[1]);
    expect(Number(third?.[1])).toBeLessThan(Number(first?.[1]));
    expect(placesOf(drawn(false))[1]?.[0]).toBeLessThan(120);
    expect(drawn(true)).toContain('>1,000<');
  });

  it('of nothing, or of one value, is still a picture', () => {
    const line = (points: readonly (readonly [number, number])[]) =>
      drawChart({
        kind: 'lines',
        name: 'x',
        title: 'X',
        unit: '',
        xTitle: 'x',
        logX: true,
        lines: [{ label: 'l', points }],
      });
    for (const svg of [
      line([]),
      line([[1, 0]]),
      drawChart({ kind: 'bars', name: 'x', title: 'X', unit: '', bars: [] }),
    ]) {
      expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
      expect(svg).not.toMatch(/NaN|Infinity/);
    }
  });
});
