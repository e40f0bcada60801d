/** `process.stderr`, or a test's replacement. */
export type ProgressStream = { isTTY?: boolean; write(text: string): unknown };

/** Where a command writes: `out` and `err` take lines, `progress` a bar or its lines; absent, no progress is shown. */
export type Terminal = { out(text: string): void; err(text: string): void; progress?: ProgressStream };

/** `share` is between 0 and 1. */
export type ShowProgress = (label: string, share: number, detail: string) => void;

const BAR_WIDTH = 30;
const LINE_EVERY_PERCENT = 10;

/** Shows the progress of work: a bar that is redrawn on a terminal, elsewhere one line for each tenth. */
export const withProgress = async <T>(
  { progress }: Pick<Terminal, 'progress'>,
  work: (show: ShowProgress) => Promise<T>,
): Promise<T> => {
  let drawn = false;
  let written = '';
  const show: ShowProgress = (label, share, detail) => {
    const percent = Math.floor(share * 100);
    const shown = `${label.padEnd(16)} ${String(percent).padStart(3)} %`;
    if (progress?.isTTY === true) {
      const full = Math.floor(share * BAR_WIDTH);
      progress.write(`\r${shown} [${'#'.repeat(full).padEnd(BAR_WIDTH, '.')}] ${detail}\x1b[K`);
      drawn = true;
      return;
    }
    const step = `${label} ${Math.floor(percent / LINE_EVERY_PERCENT)}`;
    if (step === written) return;
    written = step;
    progress?.write(`${shown} ${detail}\n`);
  };
  return await work(show).finally(() => {
    // Later output begins on a new line.
    if (drawn) progress?.write('\n');
  });
};
