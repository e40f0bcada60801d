import type { CanvasElement, Content } from 'pdfmake/interfaces.js';
import { LOGO } from './blocks/header.js';
import { consultationUrl, QR } from './blocks/identification.js';
import { EDGE, PAGE, points } from './page.js';
import type { PlacedText, Rule, Sheet } from './sheet.js';

/** The page as parts of pdfmake, each at its absolute place; `marks` lie between the grey and everything else. */
export const pageContent = (sheet: Sheet, marks: readonly Content[], accessKey: string): Content[] => [
  { canvas: sheet.fills.map(fill), absolutePosition: { x: 0, y: 0 } },
  ...marks,
  { canvas: [border, ...sheet.rules.map(line)], absolutePosition: { x: 0, y: 0 } },
  { image: 'logo', width: points(LOGO.width), absolutePosition: at(LOGO.left, LOGO.top) },
  {
    qr: consultationUrl(accessKey),
    eccLevel: 'M',
    version: QR_VERSION,
    fit: QR_MODULES,
    absolutePosition: at(QR.left, QR.top),
  },
  ...sheet.texts.map(text),
];

/** 45 modules of one point, 15.9 mm: the least that pdfmake, which knows whole points only, draws of 15.2 mm or more. */
const QR_VERSION = 7;
const QR_MODULES = 45;

const at = (left: number, top: number) => ({ x: points(left), y: points(top) });

const text = ({ text: shown, left, top, style }: PlacedText): Content => ({
  text: shown,
  noWrap: true,
  absolutePosition: at(left, top),
  fontSize: style.size,
  ...(style.bold ? { bold: true } : {}),
  ...(style.color === undefined ? {} : { color: style.color }),
});

/** 5 % of black (NT 008, 2.2.3). */
const GREY_5 = '#F2F2F2';

const fill = (box: Sheet['fills'][number]): CanvasElement => ({
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
