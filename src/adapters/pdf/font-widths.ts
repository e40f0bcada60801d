/** Width of a character in thousandths of the size of the font, by code point. */
export type WidthOf = (codePoint: number) => number;

/**
 * The advance widths of a TrueType font with a Unicode table of format 4 (all of the Basic Multilingual Plane, which is
 * what Liberation Sans has). A character that the font lacks has the width of the empty box drawn for it. Throws for
 * another kind of file.
 */
export const widthsOf = (font: Buffer): WidthOf => {
  const unitsPerEm = font.readUInt16BE(tableAt(font, 'head') + 18);
  const measured = font.readUInt16BE(tableAt(font, 'hhea') + 34);
  const metrics = tableAt(font, 'hmtx');
  const glyphs = glyphsOf(font);
  const widths = new Map<number, number>();
  const advance = (glyph: number) =>
    (font.readUInt16BE(metrics + 4 * Math.min(glyph, measured - 1)) * 1000) / unitsPerEm;
  for (const [codePoint, glyph] of glyphs) widths.set(codePoint, advance(glyph));
  const unknown = advance(0);
  return (codePoint) => widths.get(codePoint) ?? unknown;
};

const tableAt = (font: Buffer, tag: string): number => {
  const count = font.readUInt16BE(4);
  for (let at = 12; at < 12 + 16 * count; at += 16) {
    if (font.toString('latin1', at, at + 4) === tag) return font.readUInt32BE(at + 8);
  }
  throw new Error(`the font has no table ${tag}`);
};

const glyphsOf = (font: Buffer): ReadonlyMap<number, number> => {
  const start = unicodeTableOf(font);
  const segments = font.readUInt16BE(start + 6) / 2;
  const ends = start + 14;
  const starts = ends + 2 * segments + 2;
  const deltas = starts + 2 * segments;
  const offsets = deltas + 2 * segments;
  const glyphs = new Map<number, number>();
  for (let segment = 0; segment < segments; segment += 1) {
    const first = font.readUInt16BE(starts + 2 * segment);
    const last = font.readUInt16BE(ends + 2 * segment);
    const delta = font.readUInt16BE(deltas + 2 * segment);
    const offset = font.readUInt16BE(offsets + 2 * segment);
    for (let code = first; code <= last && code < 0xffff; code += 1) {
      const indexed = offset === 0 ? code : font.readUInt16BE(offsets + 2 * segment + offset + 2 * (code - first));
      if (indexed !== 0) glyphs.set(code, (indexed + delta) & 0xffff);
    }
  }
  return glyphs;
};

const unicodeTableOf = (font: Buffer): number => {
  const start = tableAt(font, 'cmap');
  const count = font.readUInt16BE(start + 2);
  for (let at = start + 4; at < start + 4 + 8 * count; at += 8) {
    const table = start + font.readUInt32BE(at + 4);
    if (font.readUInt16BE(table) === 4) return table;
  }
  throw new Error('the font has no Unicode table of format 4');
};
