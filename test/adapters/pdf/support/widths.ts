import { objectsOf, objectsWith } from './objects.js';

/** Widths that the PDF states for the glyphs of each font, in thousandths, by number of the glyph. */
export const statedWidths = (pdf: Buffer): readonly (readonly number[])[] =>
  objectsWith(pdf, '/Subtype /CIDFontType2').map(({ dictionary }) =>
    (/\/W \[0 \[([^\]]*)\]\]/.exec(dictionary)?.[1] ?? '').split(' ').map(Number),
  );

/** The same as the embedded font programs have them. */
export const embeddedWidths = (pdf: Buffer): readonly (readonly number[])[] => {
  const objects = new Map(objectsOf(pdf).map((object) => [object.id, object]));
  return objectsWith(pdf, '/Subtype /CIDFontType2').map(({ dictionary }) => {
    const descriptor = objects.get(/\/FontDescriptor (\d+) 0 R/.exec(dictionary)?.[1] ?? '');
    const file = objects.get(/\/FontFile2 (\d+) 0 R/.exec(descriptor?.dictionary ?? '')?.[1] ?? '')?.stream;
    if (file === undefined) throw new Error('a font is not embedded');
    return advancesOf(file);
  });
};

const advancesOf = (font: Buffer): readonly number[] => {
  const tables = new Map(
    Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index).map((at) => [
      font.toString('latin1', at, at + 4),
      font.readUInt32BE(at + 8),
    ]),
  );
  const place = (tag: string): number => {
    const at = tables.get(tag);
    if (at === undefined) throw new Error(`the embedded font has no ${tag}`);
    return at;
  };
  const unitsPerEm = font.readUInt16BE(place('head') + 18);
  const count = font.readUInt16BE(place('hhea') + 34);
  const metrics = place('hmtx');
  return Array.from({ length: count }, (_, glyph) => (font.readUInt16BE(metrics + 4 * glyph) * 1000) / unitsPerEm);
};
