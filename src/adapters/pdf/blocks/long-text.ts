import { shortened } from '../format.js';

/** Long text cut to `size`. Its line breaks stay while they cost little; otherwise they would push the page's end away. */
export const flowing = (text: string, size: number): string => {
  const shown = shortened(text.replace(/[^\S\n]+/g, ' ').replace(/ ?\n[ \n]*/g, '\n'), size);
  const lines = shown.split('\n').reduce((count, line) => count + Math.max(1, Math.ceil(line.length / LINE)), 0);
  return lines <= MOST_LINES ? shown : shown.replaceAll('\n', ' ');
};

/** Characters that surely fit into one line of the page's width at 7 points in common text. */
const LINE = 150;

const MOST_LINES = 10;
