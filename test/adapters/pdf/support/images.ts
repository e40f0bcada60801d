import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { renderDanfse } from '../../../../src/adapters/pdf/danfse.js';
import type { Case } from './cases.js';
import { noteOf } from './notes.js';
import { imageOf } from './poppler.js';

/** Enough to see every text, and small enough to keep. */
const DPI = 75;

export const referenceFile = (name: string): URL => new URL(`../reference/${name}.png`, import.meta.url);

export const pageOf = async ({ xml, marks }: Case): Promise<PNG> =>
  imageOf(await renderDanfse(noteOf(xml()), marks), DPI);

/** The image in eight greys, which makes a third of the file. */
export const packed = (image: PNG): Buffer => PNG.sync.write(coarse(image, 255 / 7), { ...SMALL, colorType: 0 });

/** The image in few colours, for people to look at. */
export const packedInColour = (image: PNG): Buffer =>
  PNG.sync.write(coarse(image, 255 / 15), { ...SMALL, colorType: 2 });

const SMALL = { deflateLevel: 9, filterType: 0 } as const;

/** White stays white, and the grey of titles stays grey. */
const coarse = (image: PNG, step: number): PNG => {
  const copy = new PNG({ width: image.width, height: image.height });
  image.data.copy(copy.data);
  for (let at = 0; at < copy.data.length; at += 1) {
    if (at % 4 !== 3) copy.data[at] = Math.floor((copy.data[at] ?? 0) / step) * step;
  }
  return copy;
};

/** Share of the pixels that differ by more than what another version of poppler makes of the same page. */
export const difference = (one: PNG, other: PNG): number => {
  if (one.width !== other.width || one.height !== other.height) return 1;
  const different = pixelmatch(one.data, other.data, undefined, one.width, one.height, { threshold: 0.3 });
  return different / (one.width * one.height);
};
