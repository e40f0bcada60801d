/** A4 in points. */
export const PAGE = { width: 595.28, height: 841.89 };

/** Centimetres, the unit of NT 008, in points. */
export const points = (cm: number): number => (cm * 72) / 2.54;

/** Points in centimetres. */
export const centimetres = (pt: number): number => (pt * 2.54) / 72;

/** A rectangle of the page in centimetres from its upper left corner. */
export type Box = { left: number; top: number; width: number; height: number };

/** What is printed lies from 0.30 cm to 20.70 cm (NT 008, 2.4.5). */
export const CONTENT = { left: 0.3, right: 20.7, width: 20.4 };

/** The border stands 0.18 cm from the edge of the paper, between the 0.15 and 0.20 of NT 008, 2.2.2. */
export const EDGE = 0.18;

/** No letter goes below this: the border and a little air. */
export const LOWEST = 29.45;

/** Distance of a text from the left of its box: the logo's place in NT 008, 2.4.5, and every text of Anexo I. */
export const INSET = 0.19;

/** Texts end this far from the right of their box. */
export const RIGHT_INSET = 0.1;
