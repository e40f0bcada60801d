/** `process.stderr`, or what a test puts in its place. */
export type ProgressStream = { isTTY?: boolean; write(text: string): unknown };

export type Progress = {
  /** `share` between 0 and 1. */
  show(label: string, share: number, detail: string): void;
  /** Ends the line of a bar, so that what follows stands on its own. */
  end(): void;
};

const BAR_WIDTH = 30;
const LINE_EVERY_PERCENT = 10;

/** A bar that is redrawn on a terminal; elsewhere a line for each tenth of the way. */
export const createProgress = (stream: ProgressStream): Progress => {
  let drawn = false;
  let said = '';
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
      if (step === said) return;
      said = step;
      stream.write(`${shown} ${detail}\n`);
    },
    end: () => {
      if (drawn) stream.write('\n');
      drawn = false;
      said = '';
    },
  };
};
