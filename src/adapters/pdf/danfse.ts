import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CanvasElement, Content } from 'pdfmake/interfaces.js';
import type { PdfMarks } from '../../ports/pdf.js';
import { consultationUrl, LOGO, QR } from './blocks/header.js';
import { shortened } from './format.js';
import { layoutOf } from './layout.js';
import type { Note } from './note.js';
import { EDGE, type Layout, PAGE, points, type Rule, type TextLine } from './page.js';
import { CONTINUES, type Page, renderOnePage } from './render-page.js';
import { FONT_FAMILY } from './text-width.js';

/**
 * The DANFSe of NT 008 (blocks and order of Anexo I) as a page for pdfmake. It depends on the note and the marks alone, not on the clock or on
 * chance.
 */
export const danfsePage = (note: Note, marks: PdfMarks): Page => ({
  pageSize: PAGE,
  info: {
    title: titleOf(note, marks),
    subject: 'Documento Auxiliar da NFS-e',
    creationDate: new Date(note.dhProc),
  },
  defaultStyle: { fontSize: 7, color: '#000000' },
  content: pageContent(layoutOf(note, marks.simulated), diagonalWords(marks), note.accessKey),
});

/** With the marks, because a search through files does not find the words that lie across the page. */
const titleOf = (note: Note, marks: PdfMarks): string => {
  const words = wordsOf(marks).map(({ text }) => text);
  return `DANFSe da NFS-e ${shortened(note.nNFSe, 13)}${words.length === 0 ? '' : ` (${words.join(', ')})`}`;
};

/** Renders the DANFSe as a PDF of one page. The same note and marks give the same bytes. Throws when the note does not fit on one page. */
export const renderDanfse = async (note: Note, marks: PdfMarks): Promise<Buffer> => {
  const printed = await renderOnePage(danfsePage(note, marks), IMAGES);
  if (printed === undefined) throw new Error('the document does not fit on one page');
  return printed;
};

const LOGO_FILE = readFileSync(fileURLToPath(new URL('./logo-nfse.png', import.meta.url)));

const IMAGES = {
  images: { logo: `data:image/png;base64,${LOGO_FILE.toString('base64')}` },
  alt: 'NFS-e, Nota Fiscal de Serviço eletrônica',
};

/**
 * Words across the page for what the XML does not hold (NT 008, 2.5). They lie above the grey of titles, which would hide parts of a word, and
 * below every text, which stays readable. Each word is a separate picture, because a screen reader reads the texts of one picture as one word.
 */
const diagonalWords = (marks: PdfMarks): readonly Content[] => {
  const words = wordsOf(marks);
  const first = -((words.length - 1) * LINE_GAP) / 2;
  return words.map((word, index) => ({
    svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${PAGE.width}" height="${PAGE.height}" viewBox="0 0 ${PAGE.width} ${PAGE.height}"><g transform="translate(${PAGE.width / 2} ${PAGE.height / 2}) rotate(-50)">${textOf(word, first + index * LINE_GAP)}</g></svg>`,
    width: PAGE.width,
    height: PAGE.height,
    absolutePosition: { x: 0, y: 0 },
  }));
};

const textOf = ({ text, color }: Word, middle: number): string =>
  `<text x="0" y="${middle + SIZE / 3}" font-family="${FONT_FAMILY}" font-size="${SIZE}" fill="${color}" text-anchor="middle">${text}</text>`;

type Word = { text: string; color: string };

const wordsOf = (marks: PdfMarks): readonly Word[] => [
  ...(marks.canceled ? [{ text: 'CANCELADA', color: K35 }] : []),
  ...(marks.replaced ? [{ text: 'SUBSTITUÍDA', color: K35 }] : []),
  ...(marks.simulated ? [{ text: 'SIMULADO', color: PALE_RED }] : []),
];

/** 35 % of black, as an opaque colour: a transparent one would ask more than paper can show. */
const K35 = '#A6A6A6';

/** Red instead of grey, because a simulated note must not be mistaken for a real one. */
const PALE_RED = '#FFA6A6';

/** Points. NT 008 asks for at least 50, in normal weight. */
const SIZE = 92;

/** Points between two baselines; closer words would overlap. */
const LINE_GAP = 130;

/** The layout as pdfmake content, every part at its absolute place. `marks` lie above the grey and below everything else. */
const pageContent = (layout: Layout, marks: readonly Content[], accessKey: string): Content[] => [
  { canvas: layout.fills.map(fill), absolutePosition: { x: 0, y: 0 } },
  ...marks,
  { canvas: [border, ...layout.rules.map(line)], absolutePosition: { x: 0, y: 0 } },
  { image: 'logo', width: points(LOGO.width), absolutePosition: at(LOGO.left, LOGO.top) },
  {
    qr: consultationUrl(accessKey),
    eccLevel: 'M',
    version: QR_VERSION,
    fit: QR_MODULES,
    absolutePosition: at(QR.left, QR.top),
  },
  ...layout.texts.map(text),
];

/** 45 modules of one point are 15.9 mm. NT 008 asks for at least 15.2 mm, and pdfmake draws modules of whole points only. */
const QR_VERSION = 7;
const QR_MODULES = 45;

const at = (left: number, top: number) => ({ x: points(left), y: points(top) });

const text = ({ text: content, left, top, style, continues }: TextLine): Content => ({
  // The space separates the last word from the first of the next line for a screen reader.
  text: continues === true ? `${content}${CONTINUES}` : content,
  noWrap: true,
  absolutePosition: at(left, top),
  fontSize: style.size,
  ...(style.bold ? { bold: true } : {}),
  ...(style.color === undefined ? {} : { color: style.color }),
});

/** 5 % of black (NT 008, 2.2.3). */
const GREY_5 = '#F2F2F2';

const fill = (box: Layout['fills'][number]): CanvasElement => ({
  type: 'rect',
  x: points(box.left),
  y: points(box.top),
  w: points(box.width),
  h: points(box.height),
  color: GREY_5,
});

const line = ({ x1, y1, x2, y2 }: Rule): CanvasElement => ({
  type: 'line',
  x1: points(x1),
  y1: points(y1),
  x2: points(x2),
  y2: points(y2),
  lineWidth: 0.5,
});

/** The line around the page, 1 point (NT 008, 2.2.3). */
const border: CanvasElement = {
  type: 'rect',
  x: points(EDGE),
  y: points(EDGE),
  w: PAGE.width - 2 * points(EDGE),
  h: PAGE.height - 2 * points(EDGE),
  lineWidth: 1,
  lineColor: '#000000',
};
