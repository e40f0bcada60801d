/** How the names of the rows about edits of the log begin. */
export const EDIT_ROW = 'edit: ';

/**
 * One line of a table. `ratio` compares with `floor`, bare work or a peer that was measured in the same run, so the ratio does not depend on the
 * machine. `mustHold`: a missed aim fails the run.
 */
export type Row = {
  name: string;
  figure: string;
  floor?: string;
  ratio?: number;
  aim?: Aim;
  detail: string;
  mustHold?: boolean;
};

/** The aim of a figure (test/bench/README.md), and whether this run met it. `limit` has the unit of the text. */
type Aim = { text: string; sign: Sign; limit: number; unit: string; met: boolean };

type Sign = '>=' | '<=' | '<';

/** What a page shows as a picture. Points of a line are `[x, y]`; `logX`: the steps of x multiply. */
export type Chart =
  | { kind: 'bars'; name: string; title: string; unit: string; bars: readonly Bar[] }
  | { kind: 'lines'; name: string; title: string; unit: string; xTitle: string; logX: boolean; lines: readonly Line[] };

/** `mark`: the aim. */
export type Bar = { label: string; value: number; mark?: number };
export type Line = { label: string; points: readonly (readonly [x: number, y: number])[] };

/** What a bench gives back: plain data, which JSON keeps. */
export type BenchResult = { rows: readonly Row[]; charts: readonly Chart[] };

const aimOf = (sign: Sign, limit: number, unit: string, met: boolean): Aim => ({
  text: `${sign} ${limit}${unit}`,
  sign,
  limit,
  unit,
  met,
});

export const atLeast = (least: number, got: number, unit = ''): Aim => aimOf('>=', least, unit, got >= least);

export const atMost = (most: number, got: number, unit = ''): Aim => aimOf('<=', most, unit, got <= most);

export const below = (most: number, got: number, unit = ''): Aim => aimOf('<', most, unit, got < most);

export const perSecond = (rate: number, what: string): string => `${Math.round(rate).toLocaleString('en')} ${what}/s`;

export const seconds = (value: number): string => `${value.toFixed(2)} s`;

const TITLES = ['', 'figure', 'floor', 'ratio', 'aim', '', 'detail'];

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

export const cellsOf = ({ name, figure, floor, ratio, aim, detail }: Row): string[] => [
  name,
  figure,
  floor ?? '',
  ratio?.toFixed(2) ?? '',
  aim?.text ?? '',
  aim === undefined ? '' : aim.met ? 'ok' : 'MISSED',
  detail,
];
