import { codePattern, withoutMask } from '../../../domain/common/masks.js';
import type { PlannedImport } from './import-line.js';

/** A line of the file with its number, from 1. */
export type Numbered = { number: number; plan: PlannedImport };

export type LineProblem = { number: number; text: string };

/** Gathers the problems of the lines of one file. `companies`: the CNPJ of each line that names one. */
export class ImportProblems {
  readonly #found: LineProblem[] = [];
  readonly #companies = new Map<number, string>();
  readonly #onRecord = new Set<number>();

  get count(): number {
    return this.#found.length;
  }

  /** Remembers the company of the line, also of a line that cannot be read whole. */
  company(number: number, line: string): void {
    const [, cnpj = ''] = /"cnpj"\s*:\s*"([^"\\]*)"/.exec(line) ?? [];
    if (codePattern('cnpj').test(cnpj)) this.#companies.set(number, withoutMask(cnpj, 'cnpj'));
  }

  report(number: number, texts: readonly string[]): void {
    this.#found.push(...texts.map((text) => ({ number, text })));
  }

  /** The line is refused only because its invoice is on record otherwise, so the file without the line can be imported. */
  reportOnRecord(number: number, text: string): void {
    this.#onRecord.add(number);
    this.report(number, [text]);
  }

  /** One text for each problem, in the order of the lines. */
  texts(): readonly string[] {
    const isOfSeveral = new Set(this.#companies.values()).size > 1;
    const inOrder = [...this.#found].sort((a, b) => a.number - b.number);
    return firstOfEach(inOrder, (number) => {
      const cnpj = isOfSeveral ? this.#companies.get(number) : undefined;
      return cnpj === undefined ? `line ${number}` : `line ${number} (${cnpj})`;
    });
  }

  /** The same of a file of `lines` lines that was refused, with how to import its other lines where that is all that the problems want. */
  textsOfRefusedFile(lines: number): readonly string[] {
    const refused = [...new Set(this.#found.map(({ number }) => number))].sort((a, b) => a - b);
    const isAllOnRecord = refused.every((number) => this.#onRecord.has(number));
    if (!isAllOnRecord || refused.length === lines) return this.texts();
    return [...this.texts(), `all lines are imported or none: ${withoutLines(refused)}`];
  }
}

/** A longer expression would be hard to type. */
const MAX_RANGES = 40;

const withoutLines = (numbers: readonly number[]): string => {
  const ranges: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === number - 1) last.to = number;
    else ranges.push({ from: number, to: number });
  }
  if (ranges.length > MAX_RANGES) return `the rest is taken from a file without these ${numbers.length} lines`;
  const orders = ranges.map(({ from, to }) => (from === to ? `${from}d` : `${from},${to}d`));
  return `the rest is taken from a file without such lines: sed '${orders.join(';')}' FILE > NEW-FILE`;
};

/** More equal lines than these say nothing new. */
const SHOWN = 10;

const lineName = (number: number): string => `line ${number}`;

/** Texts that differ in ids, keys, numbers or instants only are of one kind, but for CNPJs: of each kind the first ten, and how many more there are. */
export const firstOfEach = (found: readonly LineProblem[], nameOf = lineName): readonly string[] => {
  const kinds = new Map<string, { first: number; count: number }>();
  const texts: string[] = [];
  for (const { number, text } of found) {
    const key = text.replace(/\S*\d\S*/g, (word) => (codePattern('cnpj').test(word) ? word : '#'));
    const kind = kinds.get(key) ?? { first: number, count: 0 };
    kinds.set(key, { ...kind, count: kind.count + 1 });
    if (kind.count < SHOWN) texts.push(`${nameOf(number)}: ${text}`);
  }
  const more = [...kinds.values()].filter(({ count }) => count > SHOWN);
  return [...texts, ...more.map(({ first, count }) => `${count - SHOWN} more, as line ${first}`)];
};

/** The numbers of many lines in one text: the first ten, and how many there are. */
export const linesText = (numbers: readonly number[]): string => {
  const shown = numbers.slice(0, SHOWN).join(', ');
  if (numbers.length > SHOWN) return `${numbers.length} lines (${shown}, …)`;
  return numbers.length === 1 ? `line ${shown}` : `lines ${shown}`;
};
