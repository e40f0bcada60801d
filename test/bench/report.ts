/** One line of the report. `ratio` compares with bare work measured in the same run, so the ratio does not depend on the machine. */
export type Row = { name: string; figure: string; ratio?: number; aim?: Aim; detail: string };

/** The aim of a figure (docs/development.md#bench), and whether this run met it. */
export type Aim = { text: string; met: boolean };

export const atLeast = (least: number, got: number, unit = ''): Aim => ({
  text: `>= ${least}${unit}`,
  met: got >= least,
});

export const atMost = (most: number, got: number, unit = ''): Aim => ({ text: `<= ${most}${unit}`, met: got <= most });

export const below = (most: number, got: number, unit = ''): Aim => ({ text: `< ${most}${unit}`, met: got < most });

export const perSecond = (rate: number, what: string): string => `${Math.round(rate).toLocaleString('en')} ${what}/s`;

export const seconds = (value: number): string => `${value.toFixed(2)} s`;

const TITLES = ['', 'figure', 'ratio', 'aim', '', 'detail'];

/** Aligned columns; a missed aim is marked, never an error. */
export const renderTable = (rows: readonly Row[]): string => {
  const lines = [TITLES, ...rows.map(cellsOf)];
  const widths = TITLES.map((_title, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

const cellsOf = ({ name, figure, ratio, aim, detail }: Row): string[] => [
  name,
  figure,
  ratio?.toFixed(2) ?? '',
  aim?.text ?? '',
  aim === undefined ? '' : aim.met ? 'ok' : 'MISSED',
  detail,
];
