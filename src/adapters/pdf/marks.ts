import type { Content } from 'pdfmake/interfaces.js';
import type { PdfMarks } from '../../ports/pdf.js';

/** A4 in points. */
export const PAGE = { width: 595.28, height: 841.89 };

/** The line around the page, 1 point (NT 008, 2.2.3). */
export const border = (): Content =>
  onWholePage(
    `<rect x="${EDGE}" y="${EDGE}" width="${PAGE.width - 2 * EDGE}" height="${PAGE.height - 2 * EDGE}" fill="none" stroke="#000000" stroke-width="1"/>`,
  );

/**
 * What the XML does not say, across the page (NT 008, 2.5): over the text, which stays readable, since behind it the
 * grey cells would hide parts of a word.
 */
export const diagonals = (marks: PdfMarks): Content => {
  const words = wordsOf(marks);
  const first = -((words.length - 1) * LINE_GAP) / 2;
  const texts = words.map(
    ({ text, size, color }, index) =>
      `<text x="0" y="${first + index * LINE_GAP + size / 3}" font-family="Roboto" font-size="${size}" fill="${color}" fill-opacity="${K35}" text-anchor="middle">${text}</text>`,
  );
  return onWholePage(
    `<g transform="translate(${PAGE.width / 2} ${PAGE.height / 2}) rotate(-50)">${texts.join('')}</g>`,
  );
};

type Word = { text: string; size: number; color: string };

/** NT 008 wants 50 points or more, normal weight, grey; the red one says louder that nobody may take the note for real. */
const wordsOf = (marks: PdfMarks): readonly Word[] => [
  ...(marks.canceled ? [{ text: 'CANCELADA', size: 100, color: '#000000' }] : []),
  ...(marks.replaced ? [{ text: 'SUBSTITUÍDA', size: 92, color: '#000000' }] : []),
  ...(marks.simulated ? [{ text: 'SIMULADO', size: 100, color: '#FF0000' }] : []),
];

/** Black of this opacity on white is the grey of NT 008. */
const K35 = 0.35;

/** Baselines this far apart keep two words from covering each other. */
const LINE_GAP = 130;

/** 0.18 cm from the paper's edge, between the 0.15 and 0.20 of NT 008, 2.2.2. */
const EDGE = 5.1;

const onWholePage = (shapes: string): Content => ({
  svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${PAGE.width}" height="${PAGE.height}" viewBox="0 0 ${PAGE.width} ${PAGE.height}">${shapes}</svg>`,
  width: PAGE.width,
  height: PAGE.height,
  absolutePosition: { x: 0, y: 0 },
});
