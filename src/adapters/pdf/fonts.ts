import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type WidthOf, widthsOf } from './font-widths.js';

const fontFile = (weight: string): string =>
  fileURLToPath(new URL(`./fonts/LiberationSans-${weight}.ttf`, import.meta.url));

/** Liberation Sans (OFL-1.1) has the widths of Arial, which stands for both families of NT 008, 2.2.1. */
export const FONT_FAMILY = 'LiberationSans';

export const FONT_FILES: { readonly normal: string; readonly bold: string } = {
  normal: fontFile('Regular'),
  bold: fontFile('Bold'),
};

/** `size` in points; black and of normal weight unless it says otherwise. */
export type TextStyle = { size: number; bold?: boolean; color?: string };

/** Width of a text on one line in points, without kerning. */
export const widthOf = (text: string, { size, bold }: TextStyle): number => {
  const width = bold === true ? widths.bold : widths.normal;
  let thousandths = 0;
  for (const character of text) thousandths += width(character.codePointAt(0) ?? 0);
  return (thousandths * size) / 1000;
};

/** Height of a line in points: ascent and descent of the font, without a gap. */
export const lineHeight = ({ size }: TextStyle): number => (size * (1854 + 434)) / 2048;

const widths: { readonly normal: WidthOf; readonly bold: WidthOf } = {
  normal: widthsOf(readFileSync(FONT_FILES.normal)),
  bold: widthsOf(readFileSync(FONT_FILES.bold)),
};
