import { visibleCharacters } from '../lib/printable.js';
import { utf8Text } from './utf8-text.js';

/** `process.stderr`, or a test's replacement. */
export type ProgressStream = { isTTY?: boolean; write(text: string): unknown };

/**
 * Where a command writes: `out` and `err` take lines, `progress` a bar. Absent or no terminal, no progress is shown. From a call of
 * `untilInterrupted` on, SIGINT, SIGTERM and SIGHUP abort its signal, and the command has 10 s to end.
 */
export type Terminal = {
  out(text: string): void;
  /** From now on `out` has to reach a reader: otherwise stderr gets this line. A text that could not be written is exit 1 then. */
  ifUnseen?(line: string): void;
  err(text: string): void;
  /** Whether a person reads `out`. */
  outIsTTY?: boolean;
  progress?: ProgressStream;
  untilInterrupted?(): AbortSignal;
  /** `process.stdin`, or a test's replacement. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean };
};

/**
 * JSON for a terminal: `JSON.stringify` leaves invisible characters as they are, and DEL and the control characters from U+0080 to U+009F, of which
 * U+009B begins a sequence. The escapes mean the same values.
 */
export const jsonText = (value: unknown, indent?: number): string =>
  visibleCharacters(JSON.stringify(value, undefined, indent)).replace(
    /[\x7f-\x9f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  );

/** The argument that means the first line of the input. */
const FROM_INPUT = '-';

/**
 * An argument as it was typed, or the first line of the input for `-`. Every user of a machine may see the arguments of its processes, so a document
 * goes through the input. A person at a terminal is asked for `what`. `problem`: why the line is no text, for a person.
 */
export const typedText = async (
  typed: string,
  what: string,
  { input, err }: Pick<Terminal, 'input' | 'err'>,
): Promise<{ text: string } | { problem: string }> => {
  if (typed !== FROM_INPUT || input === undefined) return { text: typed.trim() };
  if (input.isTTY === true) err(`${what}, then Enter:`);
  const line = await firstLine(input);
  if (line === undefined) return { problem: `the first line of the input is longer than ${LONGEST_LINE / 1024} KiB` };
  const read = utf8Text(line);
  return 'problem' in read ? { problem: `the input ${read.problem}` } : { text: read.text.trim() };
};

const LINE_ENDS = /[\r\n]/;

/** As long as Linux lets an argument be. An input without a line end would fill the memory. */
const LONGEST_LINE = 128 * 1024;

/** The bytes before the first line end. The input may stay open behind that. Undefined for a line that is too long. */
const firstLine = async (input: NodeJS.ReadableStream): Promise<Buffer | undefined> => {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    const part = Buffer.from(chunk);
    const end = part.toString('latin1').search(LINE_ENDS);
    const ofLine = end === -1 ? part : part.subarray(0, end);
    length += ofLine.length;
    if (length > LONGEST_LINE) return undefined;
    parts.push(ofLine);
    if (end !== -1) break;
  }
  return Buffer.concat(parts);
};
