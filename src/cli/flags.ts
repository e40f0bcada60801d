import { constants } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { codePattern } from '../domain/common/masks.js';
import { type Instant, instant, isDay } from '../domain/common/time.js';
import { errorCode } from '../lib/error-code.js';
import { type Flags, textFlag } from './command.js';
import { utf8Text } from './utf8-text.js';

const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Reads `2026-11-21` (its first instant in UTC) or a full instant with `Z` or an offset. Undefined for anything else, including 30 February. */
const readInstant = (text: string): Instant | undefined => {
  if (!DATE.test(text) && !MOMENT.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || !isDay(text.slice(0, 10)) ? undefined : instant(ms);
};

/** The instant of a flag; undefined without the flag, `bad` for any other text. */
export const instantFlag = (flags: Flags, name: string): Instant | undefined | 'bad' => {
  const text = textFlag(flags, name);
  return text === undefined ? undefined : (readInstant(text) ?? 'bad');
};

/** The month of `--month`, YYYY-MM; undefined without the flag, `bad` for any other text. */
export const monthFlag = (flags: Flags): string | undefined | 'bad' => {
  const text = textFlag(flags, 'month');
  return text === undefined || /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? text : 'bad';
};

export const BAD_MONTH = '--month must be YYYY-MM';

/** The whole number from 0 of a flag, `fallback` without the flag; undefined for any other text. */
export const wholeFlag = (flags: Flags, name: string, fallback: number): number | undefined => {
  const text = textFlag(flags, name) ?? String(fallback);
  return /^\d{1,16}$/.test(text) ? Number(text) : undefined;
};

/** Reads and parses an operator's file; `problem` is one line for a person. */
export const readJsonFile = async (file: string): Promise<{ value: unknown } | { problem: string }> => {
  const read = await readOperatorText(file);
  if ('problem' in read) return read;
  try {
    return { value: JSON.parse(read.text) };
  } catch (error) {
    return { problem: `${file} is not JSON${placeOf(error, read.text)}` };
  }
};

/** The text of an operator's file, without a byte order mark, or why there is none, in one line for a person. */
export const readOperatorText = async (file: string): Promise<{ text: string } | { problem: string }> => {
  const read = await readOperatorFile(file);
  if ('problem' in read) return read;
  const decoded = utf8Text(read.bytes);
  return 'problem' in decoded ? { problem: `${file} ${decoded.problem}` } : decoded;
};

/** No text of Node is longer. */
const MAX_FILE_BYTES = constants.MAX_STRING_LENGTH;

/** The bytes of an operator's file, or why there are none, in one line for a person. */
export const readOperatorFile = async (file: string): Promise<{ bytes: Buffer } | { problem: string }> => {
  try {
    // A pipe has no size before it ends.
    const { size } = await stat(file);
    const bytes = size > MAX_FILE_BYTES ? undefined : await readFile(file);
    return bytes === undefined || bytes.length > MAX_FILE_BYTES
      ? { problem: `${file} is too large: a command reads at most ${MAX_FILE_BYTES} bytes` }
      : { bytes };
  } catch (error) {
    return { problem: unreadable(file, error) };
  }
};

/** Why an operator's file or folder cannot be read, by what the system threw, in one line for a person. */
export const unreadable = (file: string, error: unknown, what: 'file' | 'folder' = 'file'): string => {
  const path = resolve(file);
  const code = errorCode(error);
  if (code === 'ENOENT') return `${file} cannot be read: there is no ${what} ${path}`;
  if (code === 'EISDIR') return `${file} cannot be read: ${path} is a folder`;
  return `${file} cannot be read: ${code ?? 'unknown fault'} at ${path}`;
};

/** Line and column of a fault of JSON.parse; empty where its message names no position. */
const placeOf = (error: unknown, text: string): string => {
  const at = /position (\d+)/.exec(String(error))?.[1];
  if (at === undefined) return '';
  const before = text.slice(0, Number(at)).split('\n');
  return `: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
};

/** What is wrong with a text in the place of a CNPJ. */
export const noCnpjText = (text: string): string =>
  codePattern('cnpj').test(text.toUpperCase())
    ? `${text} is no CNPJ: its letters are capitals`
    : `${text} is no CNPJ: a CNPJ has 14 characters`;
