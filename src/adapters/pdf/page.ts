import { type TextStyle, widthOf } from './text-width.js';

/** A4 in points. */
export const PAGE = { width: 595.28, height: 841.89 };

/** Centimetres, the unit of NT 008, in points. */
export const points = (cm: number): number => (cm * 72) / 2.54;

/** Points in centimetres. */
export const centimetres = (pt: number): number => (pt * 2.54) / 72;

/** A rectangle of the page in centimetres from its upper left corner. */
export type Box = { left: number; top: number; width: number; height: number };

/** The printed area in centimetres, from 0.30 to 20.70 (NT 008, 2.4.5). */
export const CONTENT = { left: 0.3, right: 20.7, width: 20.4 };

/** Centimetres from the edge of the paper to the border, between the 0.15 and 0.20 of NT 008, 2.2.2. */
export const EDGE = 0.18;

/** Lowest place of a text in centimetres, just above the border. */
export const LOWEST_TEXT = 29.45;

/** Centimetres from the left of a box to its text: the logo's place in NT 008, 2.4.5, and every text of Anexo I. */
export const INSET = 0.19;

/** Least centimetres between a text and the right of its box. */
export const RIGHT_INSET = 0.1;

/** One line of text; `left` and `top` of its line box in centimetres. `continues`: the next line continues the same sentence. */
export type TextLine = { left: number; top: number; text: string; style: TextStyle; continues?: boolean };

/** A straight line in centimetres, half a point thick (NT 008, 2.2.3). */
export type Rule = { x1: number; y1: number; x2: number; y2: number };

/** The layout of a page. All of `fills` lies below all of `texts`. */
export type Layout = { fills: readonly Box[]; rules: readonly Rule[]; texts: readonly TextLine[] };

export const layoutWith = (parts: Partial<Layout>): Layout => ({ fills: [], rules: [], texts: [], ...parts });

export const joinLayouts = (layouts: readonly Layout[]): Layout => ({
  fills: layouts.flatMap(({ fills }) => fills),
  rules: layouts.flatMap(({ rules }) => rules),
  texts: layouts.flatMap(({ texts }) => texts),
});

/** The text centred between `left` and `left + width`. */
export const centered = (text: string, box: Pick<Box, 'left' | 'top' | 'width'>, style: TextStyle): TextLine => ({
  left: box.left + (box.width - centimetres(widthOf(text, style))) / 2,
  top: box.top,
  text,
  style,
});
