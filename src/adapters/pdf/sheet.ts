import { type TextStyle, widthOf } from './fonts.js';
import { type Box, centimetres } from './page.js';

/** One line of text; `left` and `top` of its line box in centimetres. */
export type PlacedText = { left: number; top: number; text: string; style: TextStyle };

/** A straight line in centimetres, half a point thick (NT 008, 2.2.3). */
export type Rule = { x1: number; y1: number; x2: number; y2: number };

/** What is drawn, part by part: everything of `fills` lies under everything of `texts`. */
export type Sheet = { fills: readonly Box[]; rules: readonly Rule[]; texts: readonly PlacedText[] };

export const sheetOf = (parts: Partial<Sheet>): Sheet => ({ fills: [], rules: [], texts: [], ...parts });

export const joined = (sheets: readonly Sheet[]): Sheet => ({
  fills: sheets.flatMap(({ fills }) => fills),
  rules: sheets.flatMap(({ rules }) => rules),
  texts: sheets.flatMap(({ texts }) => texts),
});

/** The text centred between `left` and `left + width`. */
export const centered = (text: string, box: Pick<Box, 'left' | 'top' | 'width'>, style: TextStyle): PlacedText => ({
  left: box.left + (box.width - centimetres(widthOf(text, style))) / 2,
  top: box.top,
  text,
  style,
});
