import { codePattern, withoutMask } from '../../../domain/common/masks.js';
import type { PlannedImport } from './import-line.js';

/** A line of the file with its number, from 1. */
export type Numbered = { number: number; plan: PlannedImport };

/** An import works on so many lines at the same time. A signal ends it behind such a group. */
export const LINES_AT_ONCE = 16;

/** Gets each group of lines that is done: read, checked or imported. What it throws ends the import before the next group. */
export type OnLines = (part: 'read' | 'check' | 'import', done: number, of: number) => void;

export type LineProblem = { number: number; text: string };

/** What is said of the lines of a file: all texts, and those that a person reads where hundreds are of one kind. */
export type Told = { all: readonly string[]; shown: readonly string[] };

export const told = (...texts: readonly string[]): Told => ({ all: texts, shown: texts });

export const together = (parts: readonly Told[]): Told => ({
  all: parts.flatMap(({ all }) => all),
  shown: parts.flatMap(({ shown }) => shown),
});

/** Gathers the problems of the lines of one file. */
export type ImportProblems = {
  /** How many lines have a problem. */
  lineCount(): number;
  /** Remembers the company of the line, also of a line that cannot be read whole. */
  company(number: number, line: string): void;
  report(number: number, texts: readonly string[]): void;
  /** The line is refused only because its invoice is on record otherwise, so the file without the line can be imported. */
  reportOnRecord(number: number, text: string): void;
  /** The line has all that the line `first` has, so that each problem of that line is one of this line. */
  repeats(number: number, first: number): void;
  /** One text for each problem, in the order of the lines. */
  texts(): Told;
  /** The same of a file of `lines` lines that was refused, with how to import its other lines where that is all that the problems want. */
  textsOfRefusedFile(lines: number): Told;
};

export const createImportProblems = (): ImportProblems => {
  const found: LineProblem[] = [];
  const companies = new Map<number, string>();
  const onRecord = new Set<number>();
  const repeated = new Map<number, number[]>();
  const withRepetitions = (number: number): readonly number[] => [number].concat(repeated.get(number) ?? []);
  const refusedLines = (): readonly number[] =>
    [...new Set(found.map(({ number }) => number))].flatMap(withRepetitions).sort((a, b) => a - b);
  const report: ImportProblems['report'] = (number, texts) => {
    found.push(...texts.map((text) => ({ number, text })));
  };
  const texts = (): Told => {
    const isOfSeveral = new Set(companies.values()).size > 1;
    const ofLines = found.flatMap(({ number, text }) =>
      withRepetitions(number).map((line) => ({ number: line, text })),
    );
    const inOrder = ofLines.sort((a, b) => a.number - b.number);
    return toldOfKinds(inOrder, (number) => {
      const cnpj = isOfSeveral ? companies.get(number) : undefined;
      return cnpj === undefined ? lineName(number) : `${lineName(number)} (${cnpj})`;
    });
  };
  return {
    lineCount: () => refusedLines().length,
    company: (number, line) => {
      const [, cnpj = ''] = /"cnpj"\s*:\s*"([^"\\]*)"/.exec(line) ?? [];
      if (codePattern('cnpj').test(cnpj)) companies.set(number, withoutMask(cnpj, 'cnpj'));
    },
    report,
    reportOnRecord: (number, text) => {
      onRecord.add(number);
      report(number, [text]);
    },
    repeats: (number, first) => {
      const numbers = repeated.get(first) ?? [];
      numbers.push(number);
      repeated.set(first, numbers);
    },
    texts,
    textsOfRefusedFile: (lines) => {
      const refused = refusedLines();
      const isAllOnRecord = found.every(({ number }) => onRecord.has(number));
      if (!isAllOnRecord || refused.length === lines) return texts();
      return together([texts(), told(`all lines are imported or none: ${withoutLines(refused)}`)]);
    },
  };
};

/** Linux takes an argument of 131,071 bytes. So many ranges of numbers with seven digits have 34,000. */
const MAX_RANGES = 2_000;

const withoutLines = (numbers: readonly number[]): string => {
  const ranges: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === number - 1) last.to = number;
    else ranges.push({ from: number, to: number });
  }
  if (ranges.length > MAX_RANGES)
    return `the rest is taken from a file without these ${numbers.length} lines, which are too many for one sed order: --json has all`;
  const orders = ranges.map(({ from, to }) => (from === to ? `${from}d` : `${from},${to}d`));
  return `the rest is taken from a file without such lines: sed '${orders.join(';')}' FILE > NEW-FILE`;
};

/** Of more lines of one kind a person reads the first ten. */
const ALL_SHOWN = 100;

const FIRST = 10;

const lineName = (number: number): string => `line ${number}`;

/** Texts that differ in ids, keys, numbers or instants only are of one kind, but for CNPJs. */
const kindOf = (text: string): string =>
  text.replace(/\S*\d\S*/g, (word) => (codePattern('cnpj').test(word) ? word : '#'));

/** A text for each problem. Of a kind with more than a hundred the first ten are shown, and how many more there are. */
export const toldOfKinds = (found: readonly LineProblem[], nameOf = lineName): Told => {
  const named = found.map(({ number, text }) => ({ number, kind: kindOf(text), text: `${nameOf(number)}: ${text}` }));
  const kinds = new Map<string, { first: number; count: number; shown: number }>();
  for (const { number, kind } of named) {
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, { first: number, count: 1, shown: 0 });
    else known.count += 1;
  }
  const shown = named.filter(({ kind }) => {
    const of = kinds.get(kind);
    return of !== undefined && (of.count <= ALL_SHOWN || ++of.shown <= FIRST);
  });
  const long = [...kinds.values()].filter(({ count }) => count > ALL_SHOWN);
  const more = long.map(({ first, count }) => `${count - FIRST} more, as line ${first}: --json has all`);
  return { all: named.map(({ text }) => text), shown: [...shown.map(({ text }) => text), ...more] };
};

/** One text for all these lines. Of more than a hundred the first ten numbers are shown, and how many there are. */
export const toldOfLines = (numbers: readonly number[], text: string): Told => {
  if (numbers.length === 0) return told();
  const all = `${numbers.length === 1 ? 'line' : 'lines'} ${numbers.join(', ')}: ${text}`;
  if (numbers.length <= ALL_SHOWN) return told(all);
  const first = numbers.slice(0, FIRST).join(', ');
  return { all: [all], shown: [`${numbers.length} lines (${first}, …; --json has all): ${text}`] };
};
