/** `process.stderr`, or a test's replacement. */
export type ProgressStream = { isTTY?: boolean; write(text: string): unknown };

type Progress = {
  /** `share` is between 0 and 1. */
  show(label: string, share: number, detail: string): void;
  /** Ends the line of a bar, so that later output begins on a new line. */
  end(): void;
};

const BAR_WIDTH = 30;
const LINE_EVERY_PERCENT = 10;

/** A bar that is redrawn on a terminal; elsewhere one line for each tenth. */
export const createProgress = (stream: ProgressStream): Progress => {
  let drawn = false;
  let written = '';
  return {
    show: (label, share, detail) => {
      const percent = Math.floor(share * 100);
      const shown = `${label.padEnd(16)} ${String(percent).padStart(3)} %`;
      if (stream.isTTY === true) {
        const full = Math.floor(share * BAR_WIDTH);
        stream.write(`\r${shown} [${'#'.repeat(full).padEnd(BAR_WIDTH, '.')}] ${detail}\x1b[K`);
        drawn = true;
        return;
      }
      const step = `${label} ${Math.floor(percent / LINE_EVERY_PERCENT)}`;
      if (step === written) return;
      written = step;
      stream.write(`${shown} ${detail}\n`);
    },
    end: () => {
      if (drawn) stream.write('\n');
      drawn = false;
      written = '';
    },
  };
};
