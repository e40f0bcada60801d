import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ellipsed } from './format.js';

/** Required as pdfkit does: an import would load another copy of the package beside pdfkit's. */
const { create }: typeof import('fontkit') = createRequire(import.meta.url)('fontkit');

type Widths = {
  has(codePoint: number): boolean;
  /** In thousandths of the size of the font; of the empty box for a character that the font lacks. */
  of(codePoint: number): number;
};

/** The advance widths of a font; the width of each of its characters is read from the tables once. Throws for a collection of fonts. */
const widthsOf = (path: string): Widths => {
  const font = create(readFileSync(path));
  if ('fonts' in font) throw new Error('the file holds several fonts');
  const characters = new Set(font.characterSet);
  const known = new Map<number, number>();
  const widthOfGlyph = (codePoint: number): number => {
    const glyph = characters.has(codePoint) ? font.glyphForCodePoint(codePoint) : font.getGlyph(0);
    return (glyph.advanceWidth * 1000) / font.unitsPerEm;
  };
  return {
    has: (codePoint) => characters.has(codePoint),
    of: (codePoint) => {
      const width = known.get(codePoint) ?? widthOfGlyph(codePoint);
      // A note may hold any character; only those of the font are worth the memory.
      if (characters.has(codePoint)) known.set(codePoint, width);
      return width;
    },
  };
};

const fontFile = (weight: string): string =>
  fileURLToPath(new URL(`./fonts/LiberationSans-${weight}.ttf`, import.meta.url));

/** Liberation Sans (OFL-1.1) has the widths of Arial and replaces both font families of NT 008, 2.2.1. */
export const FONT_FAMILY = 'LiberationSans';

export const FONT_FILES: { readonly normal: string; readonly bold: string } = {
  normal: fontFile('Regular'),
  bold: fontFile('Bold'),
};

/** `size` in points; default: black and of normal weight. */
export type TextStyle = { size: number; bold?: boolean; color?: string };

/** Width of a text on one line in points, without kerning. */
export const widthOf = (text: string, { size, bold }: TextStyle): number => {
  const { of } = bold === true ? widths.bold : widths.normal;
  let thousandths = 0;
  for (const character of text) thousandths += of(character.codePointAt(0) ?? 0);
  return (thousandths * size) / 1000;
};

/** Whether the font has the character; both weights have the same characters. */
export const hasGlyph = (character: string): boolean => widths.normal.has(character.codePointAt(0) ?? 0);

/** Height of a line in points: ascent and descent of the font, without a gap. */
export const lineHeight = ({ size }: TextStyle): number => (size * (1854 + 434)) / 2048;

const widths: { readonly normal: Widths; readonly bold: Widths } = {
  normal: widthsOf(FONT_FILES.normal),
  bold: widthsOf(FONT_FILES.bold),
};

/**
 * The lines into which a text breaks, none wider than `width` points: at spaces, inside a word only where the word alone
 * is wider. Line breaks of the text are kept. An empty text is one empty line. A line that was broken at a space ends in this space, for which it needs
 * no room.
 */
export const wrapped = (text: string, width: number, style: TextStyle): readonly string[] =>
  text.split('\n').flatMap((paragraph) => wrappedParagraph(paragraph, width, style));

/** The same lines, at most `count`; when some are left out, the last one shown ends in `...`. */
export const cutToLines = (
  lines: readonly string[],
  count: number,
  width: number,
  style: TextStyle,
): readonly string[] => {
  if (lines.length <= count) return lines;
  const kept = lines.slice(0, Math.max(0, count));
  const last = kept.pop();
  return last === undefined ? kept : [...kept, cutToWidth(last, width, style)];
};

const cutToWidth = (line: string, width: number, style: TextStyle): string => {
  const characters = Array.from(line.trimEnd());
  while (characters.length > 0 && widthOf(`${characters.join('')}...`, style) > width) characters.pop();
  return ellipsed(characters.join('').trimEnd());
};

const wrappedParagraph = (paragraph: string, width: number, style: TextStyle): readonly string[] => {
  const lines: string[] = [];
  const space = widthOf(' ', style);
  let line = '';
  let taken = 0;
  for (const word of paragraph.split(' ')) {
    const needed = widthOf(word, style);
    if (line !== '' && taken + space + needed <= width) {
      line += ` ${word}`;
      taken += space + needed;
      continue;
    }
    if (line !== '') lines.push(`${line} `);
    const pieces = needed <= width ? [word] : pieced(word, width, style);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
    taken = widthOf(line, style);
  }
  return [...lines, line];
};

/** Keeps the three dots of an ellipsis together. */
const CHARACTER_OR_ELLIPSIS = /\.{3}$|./gsu;

const pieced = (word: string, width: number, style: TextStyle): readonly string[] => {
  const pieces: string[] = [];
  let piece = '';
  let taken = 0;
  for (const character of word.match(CHARACTER_OR_ELLIPSIS) ?? []) {
    const needed = widthOf(character, style);
    if (piece !== '' && taken + needed > width) {
      pieces.push(piece);
      piece = '';
      taken = 0;
    }
    piece += character;
    taken += needed;
  }
  return [...pieces, piece];
};
