import { spawnSync } from 'node:child_process';
import { PNG } from 'pngjs';
import { ENDS_WITHIN_MS } from '../../../support/patient.js';

// Poppler is independent of the renderer.

/** The text of the PDF, layout kept. */
export const textOf = (pdf: Buffer): string => poppler('pdftotext', ['-layout', '-', '-'], pdf);

/** The texts of each paragraph, as a screen reader reads them. */
export const paragraphsOf = (pdf: Buffer): readonly (readonly string[])[] =>
  poppler('pdfinfo', ['-struct-text', '-'], pdf)
    .split(/^ {2}(?=\S)/m)
    .filter((element) => element.startsWith('P '))
    .map((paragraph) => Array.from(paragraph.matchAll(/^ {4}"(.*)"$/gm), ([, text]) => text ?? ''));

/** The letters of the PDF in the order they were drawn, without any white space: a diagonal word is found whole. */
export const lettersOf = (pdf: Buffer): string => poppler('pdftotext', ['-raw', '-', '-'], pdf).replace(/\s+/g, '');

/** One line of `pdfinfo`. */
export const infoOf = (pdf: Buffer, name: string): string | undefined =>
  new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(poppler('pdfinfo', ['-'], pdf))?.[1];

/** A word with its box in centimetres: as wide as its letters, as high as ascent and descent of its font. */
export type Word = { text: string; left: number; top: number; right: number; bottom: number };

/** Every word of the page in the order of the content. Those of a diagonal are left out: their boxes are meaningless. */
export const wordsOf = (pdf: Buffer): readonly Word[] =>
  Array.from(poppler('pdftotext', ['-bbox', '-', '-'], pdf).matchAll(WORD), ([, xMin, yMin, xMax, yMax, text]) => ({
    text: plain(text ?? ''),
    left: toCm(xMin),
    top: toCm(yMin),
    right: toCm(xMax),
    bottom: toCm(yMax),
  })).filter(({ top, bottom }) => bottom - top < 1);

/** The page, or the part of it whose place is given in centimetres, as an image of `dpi` dots per inch. */
export const imageOf = (
  pdf: Buffer,
  dpi: number,
  part?: { left: number; top: number; width: number; height: number },
): PNG => {
  const pixels = (cm: number): string => String(Math.round((cm * dpi) / 2.54));
  const area =
    part === undefined
      ? []
      : ['-x', pixels(part.left), '-y', pixels(part.top), '-W', pixels(part.width), '-H', pixels(part.height)];
  return PNG.sync.read(run('pdftoppm', ['-r', String(dpi), ...area, '-singlefile', '-png', '-'], pdf));
};

const WORD = /<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">([^<]*)</g;

const plain = (text: string): string =>
  text.replace(/&(lt|gt|quot|apos|#39|amp);/g, (_all, name: string) => ENTITIES[name] ?? '');

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'", amp: '&' };

const toCm = (points: string | undefined): number => (Number(points) * 2.54) / 72;

const poppler = (command: string, args: readonly string[], input: Buffer): string =>
  run(command, args, input).toString('utf8');

const run = (command: string, args: readonly string[], input: Buffer): Buffer => {
  const { stdout, status } = spawnSync(command, args, { input, maxBuffer: 2 ** 26, timeout: ENDS_WITHIN_MS });
  if (status !== 0) throw new Error(`${command} failed with ${status}`);
  return stdout;
};
