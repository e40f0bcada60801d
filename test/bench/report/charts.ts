import type { Chart, Line } from '../report.js';

/** Dark enough on white; a line's colour is that of its place. */
const COLOURS = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#57606a', '#0a7ea4', '#bc4c00'];
const INK = '#24292f';
const FAINT = '#d0d7de';
const WIDTH = 720;
const TEXT = 'font-family="sans-serif" font-size="12"';

/** An SVG of 720 pixels' width on a white ground; the same chart gives the same bytes. */
export const drawChart = (chart: Chart): string => (chart.kind === 'bars' ? drawBars(chart) : drawLines(chart));

const frame = (height: number, title: string, parts: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="22" ${TEXT} font-weight="bold" fill="${INK}">${escaped(title)}</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const place = (value: number): string => value.toFixed(1);

/** Three figures of it; a count in full. */
const shown = (value: number): string => {
  if (value >= 1_000 || Number.isInteger(value)) return Math.round(value).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

const label = (x: number, y: number, text: string, anchor = 'start', fill = INK): string =>
  `<text x="${place(x)}" y="${place(y)}" ${TEXT} text-anchor="${anchor}" fill="${fill}">${escaped(text)}</text>`;

const straight = (x1: number, y1: number, x2: number, y2: number, stroke: string, width = 1): string =>
  `<line x1="${place(x1)}" y1="${place(y1)}" x2="${place(x2)}" y2="${place(y2)}" stroke="${stroke}" stroke-width="${width}"/>`;

const BAR = { left: 250, right: 90, top: 36, step: 24, height: 16 };

const drawBars = ({ title, unit, bars }: Extract<Chart, { kind: 'bars' }>): string => {
  const most = Math.max(...bars.flatMap(({ value, mark = 0 }) => [value, mark]), Number.MIN_VALUE);
  const widthOf = (value: number): number => (value / most) * (WIDTH - BAR.left - BAR.right);
  const parts = bars.flatMap(({ label: name, value, mark }, row) => {
    const y = BAR.top + row * BAR.step;
    const [middle, end] = [
      y + BAR.height - 4,
      BAR.left + Math.max(widthOf(value), mark === undefined ? 0 : widthOf(mark)),
    ];
    const bar = `<rect x="${BAR.left}" y="${y}" width="${place(widthOf(value))}" height="${BAR.height}" fill="${COLOURS[0]}"/>`;
    const aim =
      mark === undefined
        ? []
        : [
            straight(
              BAR.left + widthOf(mark),
              y - 2,
              BAR.left + widthOf(mark),
              y + BAR.height + 2,
              COLOURS[1] ?? INK,
              2,
            ),
          ];
    return [label(BAR.left - 8, middle, name, 'end'), bar, ...aim, label(end + 6, middle, `${shown(value)}${unit}`)];
  });
  return frame(BAR.top + bars.length * BAR.step + 8, title, parts);
};

const PLOT = { left: 60, right: 210, top: 40, height: 240, bottom: 44 };
const STEPS = 4;

const drawLines = ({ title, unit, xTitle, logX, lines }: Extract<Chart, { kind: 'lines' }>): string => {
  const points = lines.flatMap((line) => line.points);
  const along = (x: number): number => (logX ? Math.log10(x) : x);
  const xs = points.map(([x]) => along(x));
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const top = Math.max(...points.map(([, y]) => y), Number.MIN_VALUE) * 1.05;
  const width = WIDTH - PLOT.left - PLOT.right;
  const xOf = (x: number): number => PLOT.left + (most === least ? 0 : ((along(x) - least) / (most - least)) * width);
  const yOf = (y: number): number => PLOT.top + PLOT.height * (1 - y / top);
  const grid = Array.from({ length: STEPS + 1 }, (_, step) => (top * step) / STEPS).flatMap((y) => [
    straight(PLOT.left, yOf(y), PLOT.left + width, yOf(y), FAINT),
    label(PLOT.left - 6, yOf(y) + 4, shown(y), 'end'),
  ]);
  const ticks = ticksOf(lines).map((x) => label(xOf(x), PLOT.top + PLOT.height + 16, x.toLocaleString('en'), 'middle'));
  const drawn = lines.flatMap((line, number) => {
    const colour = COLOURS[number % COLOURS.length] ?? INK;
    const path = line.points.map(([x, y]) => `${place(xOf(x))},${place(yOf(y))}`).join(' ');
    const legendY = PLOT.top + 10 + number * 18;
    const legendX = PLOT.left + width + 14;
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      straight(legendX, legendY - 4, legendX + 16, legendY - 4, colour, 3),
      label(legendX + 22, legendY, line.label),
    ];
  });
  const bottom = PLOT.top + PLOT.height + 34;
  const height = Math.max(bottom + 10, PLOT.top + lines.length * 18 + 20);
  return frame(height, unit === '' ? title : `${title} (${unit})`, [
    ...grid,
    ...ticks,
    ...drawn,
    label(PLOT.left + width / 2, bottom, xTitle, 'middle'),
  ]);
};

const MOST_TICKS = 8;

/** Values of x that are there, at most eight. */
const ticksOf = (lines: readonly Line[]): readonly number[] => {
  const all = [...new Set(lines.flatMap(({ points }) => points.map(([x]) => x)))].sort((one, other) => one - other);
  const every = Math.ceil(all.length / MOST_TICKS);
  return all.filter((_x, number) => number % every === 0);
};
