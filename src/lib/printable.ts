import { visibleCharacters } from './visible-characters.js';

/** A control character of a text that is quoted could move the cursor or retitle the terminal, and an invisible one show another text. */
export const printable = (text: string): string => visibleCharacters(text.replace(/[^\P{Cc}\n\t]/gu, '\uFFFD'));

/** The same for one line of a report: a line break in a value could begin a line that looks like one of the report. */
export const printableLine = (text: string): string => printable(text).replace(/[\n\t\u2028\u2029]/g, '\uFFFD');

/** The text of a report. */
export const printableLines = (lines: readonly string[]): string => lines.map(printableLine).join('\n');
