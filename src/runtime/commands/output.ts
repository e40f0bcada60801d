import { fstatSync, writeFileSync } from 'node:fs';

const STDOUT = 1;

/** `write` takes text as it is. `isCut`: something could not be written. */
export type Output = { write(text: string): void; isCut(): boolean };

/**
 * The standard output of a command. Text that cannot be written is reported once on stderr, and turns the exit code 0 into 1. A closed pipe is no fault
 * (`nfse ... | head`): the command still runs to its orderly end.
 */
export const openOutput = (): Output => {
  let isCut = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isCut) return;
    isCut = true;
    process.exitCode ||= 1;
    process.stderr.write(`the output could not be written: ${error.message}\n`);
  });
  process.stderr.on('error', () => undefined);
  // Node writes to a file once, and says nothing of the rest when the disk has room for a part only.
  const isFile = isRegularFile();
  const write = (text: string): void => {
    if (!isFile) {
      process.stdout.write(text);
      return;
    }
    try {
      writeFileSync(STDOUT, text);
    } catch (error) {
      process.stdout.emit('error', error);
    }
  };
  return { write, isCut: () => isCut };
};

const isRegularFile = (): boolean => {
  try {
    return fstatSync(STDOUT).isFile();
  } catch {
    return false;
  }
};
