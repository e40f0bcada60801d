import { createInterface } from 'node:readline';
import { visibleDirections } from '../lib/visible-directions.js';

/** `process.stderr`, or a test's replacement. */
export type ProgressStream = { isTTY?: boolean; write(text: string): unknown };

/**
 * Where a command writes: `out` and `err` take lines, `progress` a bar. Absent or no terminal, no progress is shown. From a call of
 * `untilInterrupted` on, SIGINT, SIGTERM and SIGHUP abort its signal, and the command has 10 s to end.
 */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  progress?: ProgressStream;
  untilInterrupted?(): AbortSignal;
  /** `process.stdin`, or a test's replacement. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean };
};

/**
 * A text may quote the authorizer, a client or a file. A control character in it could move the cursor or retitle the terminal, and a control of
 * direction could show another text.
 */
export const printable = (text: string): string => visibleDirections(text.replace(/[^\P{Cc}\n\t]/gu, '\uFFFD'));

/**
 * JSON for a terminal: `JSON.stringify` leaves DEL and the control characters from U+0080 to U+009F as they are, of which U+009B begins a sequence, and
 * controls of direction. The escapes mean the same values.
 */
export const jsonText = (value: unknown, indent?: number): string =>
  visibleDirections(JSON.stringify(value, undefined, indent)).replace(
    /[\x7f-\x9f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  );

/** Thrown into work that a signal has interrupted, so that it undoes what it has begun. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** `share` is between 0 and 1. */
export type ShowProgress = (label: string, share: number, detail: string) => void;

/** The argument that means the first line of the input. */
const FROM_INPUT = '-';

/**
 * An argument as it was typed, or the first line of the input for `-`. Every user of a machine may see the arguments of its processes, so a document
 * goes through the input. A person at a terminal is asked for `what`.
 */
export const typedText = async (
  typed: string,
  what: string,
  { input, err }: Pick<Terminal, 'input' | 'err'>,
): Promise<string> => {
  if (typed !== FROM_INPUT || input === undefined) return typed;
  if (input.isTTY === true) err(`${what}, then Enter:`);
  const lines = createInterface({ input });
  try {
    for await (const line of lines) return line.trim();
    return '';
  } finally {
    lines.close();
  }
};

const BAR_WIDTH = 30;

/**
 * Shows the progress of work as a bar that is redrawn, on a terminal only. Work that ends well leaves its bar at 100 %. After a signal that ends the
 * process the next `show` throws `Interrupted`; work that may wait for long takes the signal too.
 */
export const withProgress = async <T>(
  { progress, untilInterrupted }: Pick<Terminal, 'progress' | 'untilInterrupted'>,
  work: (show: ShowProgress, interrupted?: AbortSignal) => Promise<T>,
): Promise<T> => {
  const interrupted = untilInterrupted?.();
  let last: Parameters<ShowProgress> | undefined;
  const draw: ShowProgress = (label, share, detail) => {
    const [percent, full] = [Math.floor(share * 100), Math.floor(share * BAR_WIDTH)];
    const bar = `[${'#'.repeat(full).padEnd(BAR_WIDTH, '.')}]`;
    progress?.write(`\r${label.padEnd(16)} ${String(percent).padStart(3)} % ${bar} ${detail}\x1b[K`);
  };
  const show: ShowProgress = (...shown) => {
    if (interrupted?.aborted === true) throw new Interrupted();
    if (progress?.isTTY !== true) return;
    // Work of several parts shows one after the other: the part before has ended well.
    if (last !== undefined && last[0] !== shown[0]) draw(last[0], 1, last[2]);
    last = shown;
    draw(...shown);
  };
  try {
    const result = await work(show, interrupted);
    if (last !== undefined) draw(last[0], 1, last[2]);
    return result;
  } finally {
    // Later output begins on a new line.
    if (last !== undefined) progress?.write('\n');
  }
};
