import { fstatSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';

const STDOUT = 1;

/** `write` takes text as it is. `isCut`: something could not be written. */
export type Output = {
  write(text: string): void;
  /** What follows is shown only this once: without a reader stderr gets this line. The null device may be meant, so it is no fault. */
  ifUnseen(line: string): void;
  isCut(): boolean;
};

/**
 * The standard output of a command. Text that cannot be written is reported once on stderr, and turns the exit code 0 into 1. A closed pipe, as of
 * `nfse ... | head`, is a fault after `ifUnseen` only: the command still runs to its end.
 */
export const openOutput = (): Output => {
  let isCut = false;
  let unseen: string | undefined;
  const cut = (): void => {
    isCut = true;
    process.exitCode ||= 1;
  };
  const tellUnseen = (): void => {
    if (unseen !== undefined) process.stderr.write(`${unseen}\n`);
    unseen = undefined;
  };
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && !isCut) process.stderr.write(`the output could not be written: ${error.message}\n`);
    if (error.code !== 'EPIPE' || unseen !== undefined) cut();
    tellUnseen();
  });
  process.stderr.on('error', () => undefined);
  const stdout = statsOf(() => fstatSync(STDOUT));
  // Node writes to a file once, and says nothing of the rest when the disk has room for a part only.
  const isFile = stdout?.isFile() === true;
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
  const ifUnseen = (line: string): void => {
    unseen = line;
    // Node opens the null device in place of a closed output, so the two look the same.
    const nowhere = statsOf(() => statSync(devNull));
    if (stdout?.isCharacterDevice() === true && stdout.rdev === nowhere?.rdev) tellUnseen();
  };
  return { write, ifUnseen, isCut: () => isCut };
};

const statsOf = (read: () => Stats): Stats | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};
