import { spawnSync } from 'node:child_process';

// Poppler reads the PDF as anybody else would.

/** The text of the PDF, layout kept. */
export const textOf = (pdf: Buffer): string => poppler('pdftotext', ['-layout', '-', '-'], pdf);

/** The letters of the PDF in the order they were drawn, without any white space: a diagonal word is found whole. */
export const lettersOf = (pdf: Buffer): string => poppler('pdftotext', ['-raw', '-', '-'], pdf).replace(/\s+/g, '');

/** One line of `pdfinfo`. */
export const infoOf = (pdf: Buffer, name: string): string | undefined =>
  new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(poppler('pdfinfo', ['-'], pdf))?.[1];

const poppler = (command: string, args: readonly string[], input: Buffer): string => {
  const { stdout, status } = spawnSync(command, args, { input });
  if (status !== 0) throw new Error(`${command} failed with ${status}`);
  return stdout.toString('utf8');
};
