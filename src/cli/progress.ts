import { printableLine } from '../lib/printable.js';
import type { Terminal } from './terminal.js';

/** Thrown into work that a signal has interrupted, so that it undoes what it has begun. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** `share` is between 0 and 1. */
export type ShowProgress = (label: string, share: number, detail: string) => void;

const BAR_WIDTH = 30;

/** Milliseconds before each line about work whose bar no terminal shows. Shorter work has no line. */
const LINE_EVERY_MS = 30_000;

/**
 * Shows the progress of work as a bar that is redrawn, on a terminal only. Work that ends well leaves its bar at 100 %. Where no terminal shows the bar,
 * `elsewhere` gets a line every 30 s at most. After a signal that ends the process the next `show` throws `Interrupted`; work that may wait for long
 * takes the signal too.
 */
export const withProgress = async <T>(
  { progress, untilInterrupted }: Pick<Terminal, 'progress' | 'untilInterrupted'>,
  work: (show: ShowProgress, interrupted?: AbortSignal) => Promise<T>,
  elsewhere?: (line: string) => void,
): Promise<T> => {
  const interrupted = untilInterrupted?.();
  let lineAt = performance.now();
  let last: Parameters<ShowProgress> | undefined;
  const draw: ShowProgress = (label, share, detail) => {
    const [percent, full] = [Math.floor(share * 100), Math.floor(share * BAR_WIDTH)];
    const bar = `[${'#'.repeat(full).padEnd(BAR_WIDTH, '.')}]`;
    const text = printableLine(`${label.padEnd(16)} ${String(percent).padStart(3)} % ${bar} ${detail}`);
    progress?.write(`\r${text}\x1b[K`);
  };
  const tell: ShowProgress = (label, _share, detail) => {
    if (elsewhere === undefined || performance.now() - lineAt < LINE_EVERY_MS) return;
    lineAt = performance.now();
    elsewhere(`${label}: ${detail}`);
  };
  const show: ShowProgress = (...shown) => {
    if (interrupted?.aborted === true) throw new Interrupted();
    if (progress?.isTTY !== true) return tell(...shown);
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
