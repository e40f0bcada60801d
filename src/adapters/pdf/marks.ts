import type { Content } from 'pdfmake/interfaces.js';
import type { PdfMarks } from '../../ports/pdf.js';
import { FONT_FAMILY } from './fonts.js';
import { PAGE } from './page.js';

/**
 * What the XML does not say, across the page (NT 008, 2.5). It is drawn over the grey of titles, which would hide parts
 * of a word, and below every text, which stays black and readable.
 */
export const diagonals = (marks: PdfMarks): readonly Content[] => {
  const words = wordsOf(marks);
  if (words.length === 0) return [];
  const first = -((words.length - 1) * LINE_GAP) / 2;
  const texts = words.map(
    ({ text, color }, index) =>
      `<text x="0" y="${first + index * LINE_GAP + SIZE / 3}" font-family="${FONT_FAMILY}" font-size="${SIZE}" fill="${color}" text-anchor="middle">${text}</text>`,
  );
  return [
    {
      svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${PAGE.width}" height="${PAGE.height}" viewBox="0 0 ${PAGE.width} ${PAGE.height}"><g transform="translate(${PAGE.width / 2} ${PAGE.height / 2}) rotate(-50)">${texts.join('')}</g></svg>`,
      width: PAGE.width,
      height: PAGE.height,
      absolutePosition: { x: 0, y: 0 },
    },
  ];
};

type Word = { text: string; color: string };

const wordsOf = (marks: PdfMarks): readonly Word[] => [
  ...(marks.canceled ? [{ text: 'CANCELADA', color: K35 }] : []),
  ...(marks.replaced ? [{ text: 'SUBSTITUÍDA', color: K35 }] : []),
  ...(marks.simulated ? [{ text: 'SIMULADO', color: PALE_RED }] : []),
];

/** 35 % of black, solid: transparency would ask for more than paper can show. */
const K35 = '#A6A6A6';

/** Says louder than grey that nobody may take the note for real. */
const PALE_RED = '#FFA6A6';

/** Points; NT 008 wants 50 or more and normal weight. */
const SIZE = 92;

/** Baselines this far apart keep two words from covering each other. */
const LINE_GAP = 130;
