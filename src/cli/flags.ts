import { readFile } from 'node:fs/promises';
import { type Instant, instant } from '../domain/shared/time.js';

const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Reads `2026-11-21` (its first instant in UTC) or a full instant with `Z` or an offset. Undefined for anything else, including 30 February. */
export const readInstant = (text: string): Instant | undefined => {
  if (!DATE.test(text) && !MOMENT.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || !isDayOfCalendar(text.slice(0, 10)) ? undefined : instant(ms);
};

/** JavaScript reads 30 February as 2 March. */
const isDayOfCalendar = (date: string): boolean => instant(Date.parse(date)).startsWith(date);

/** Reads a whole number from 0; undefined for any other text. */
export const wholeFlag = (text: string): number | undefined => (/^\d{1,16}$/.test(text) ? Number(text) : undefined);

/** Reads and parses an operator's file; `problem` is one line for a person. */
export const readJsonFile = async (file: string): Promise<{ value: unknown } | { problem: string }> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return { problem: `${file} cannot be read` };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: `${file} is not JSON` };
  }
};
