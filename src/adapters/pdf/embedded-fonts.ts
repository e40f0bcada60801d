import { FONT_FILES } from './fonts.js';
import { type EmbeddedFont, type EmbeddedFontClass, type ParsedFont, PdfDocument, type Run } from './pdfmake-parts.js';

/** Every document opens both fonts, already parsed; only those that it uses are embedded, and only their used glyphs. */
export const openFonts = (document: PdfDocument): void => {
  for (const font of fonts) {
    const embedded = new Embedded(document, font.parsed, font.id);
    embedded.layoutRun = font.run;
    document._fontFamilies[font.path] = embedded;
  }
};

type SharedFont = { path: string; id: string; parsed: ParsedFont; run: EmbeddedFont['layoutRun'] };

const sharedFont = (path: string, id: string): SharedFont => {
  const { parsed, shape } = parse(path);
  // A glyph remembers the character that it was first made for, which is what a reader copies out of the PDF. Made here,
  // in the order of the font, it cannot depend on the notes that this thread drew before.
  for (const codePoint of parsed.characterSet) parsed.glyphForCodePoint(codePoint);
  const known = new Map<string, Run>();
  const run = (text: string, features?: object): Run => {
    const key = features === undefined || features === null ? text : `${JSON.stringify(features)}|${text}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= WORDS_KEPT) known.clear();
    const { glyphs, positions, advanceWidth } = shape(printable(text, parsed), features);
    const shaped = { glyphs, positions, advanceWidth };
    known.set(key, shaped);
    return shaped;
  };
  return { path, id, parsed, run };
};

/** Labels and common words come back with every note; names and descriptions do not, so there is a limit. */
const WORDS_KEPT = 4_096;

/**
 * A character that the font lacks becomes an empty box, which is what PDF/A-2 wants in place of the glyph `.notdef`;
 * one that nobody would see becomes nothing, and any kind of space a space.
 */
const printable = (text: string, font: ParsedFont): string =>
  Array.from(text, (character) => {
    if (font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)) return character;
    if (/\s/.test(character)) return ' ';
    return /\p{Default_Ignorable_Code_Point}|\p{Cc}/u.test(character) ? '' : EMPTY_BOX;
  }).join('');

const EMPTY_BOX = '□';

/** pdfkit opens fonts only inside a document and keeps its class of an embedded font to itself. */
const parse = (path: string): { parsed: ParsedFont; shape: EmbeddedFont['layoutRun'] } => {
  const first = emptyDocument().font(path)._font;
  return { parsed: first.font, shape: (text, features) => first.layoutRun(text, features) };
};

const emptyDocument = (): PdfDocument =>
  new PdfDocument({}, {}, {}, {}, { font: null, autoFirstPage: false, fontLayoutCache: false }, null, () => false);

const fonts: readonly SharedFont[] = [sharedFont(FONT_FILES.normal, 'F1'), sharedFont(FONT_FILES.bold, 'F2')];

const Embedded = emptyDocument().font(FONT_FILES.normal)._font.constructor as EmbeddedFontClass;
