import { lineHeight } from '../fonts.js';
import { shortened } from '../format.js';
import { CONTENT, centimetres, INSET } from '../page.js';
import type { PlacedText } from '../sheet.js';
import { cutToLines, wrapped } from '../wrapping.js';
import { oneParagraph, paragraph, roomIn, TEXT } from './grid.js';

/** Centimetres from one line of a text to the next. */
export const LINE = centimetres(lineHeight(TEXT));

/**
 * The lines of a text of the page's width, cut to `size` characters. Its line breaks stay while they cost little;
 * otherwise they would push the page's end away.
 */
export const linesOf = (text: string, size: number): readonly string[] => {
  const paragraphs = text.split(/\r?\n|\r/).map(oneParagraph);
  const shown = shortened(paragraphs.filter((each) => each !== '').join('\n'), size);
  const lines = wrapped(shown, WIDTH, TEXT);
  return lines.length <= MOST_BROKEN_LINES ? lines : wrapped(shown.replaceAll('\n', ' '), WIDTH, TEXT);
};

/** At most `count` of the lines; the last one says if some were left out. */
export const cutLongText = (lines: readonly string[], count: number): readonly string[] =>
  cutToLines(lines, count, WIDTH, TEXT);

/** The lines one below another from `top` on. */
export const placeLines = (lines: readonly string[], top: number): readonly PlacedText[] =>
  paragraph(lines, { left: CONTENT.left + INSET, top }, TEXT);

const WIDTH = roomIn(CONTENT.width);

const MOST_BROKEN_LINES = 12;
