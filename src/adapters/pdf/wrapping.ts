import { type TextStyle, widthOf } from './fonts.js';

/**
 * The lines into which a text breaks, none wider than `width` points: at spaces, inside a word only where the word alone
 * is wider. Line breaks of the text are kept. An empty text is one empty line.
 */
export const wrapped = (text: string, width: number, style: TextStyle): readonly string[] =>
  text.split('\n').flatMap((paragraph) => wrappedParagraph(paragraph, width, style));

/** The same lines, at most `count`; when some are left out, the last one shown ends in `...`. */
export const cutToLines = (
  lines: readonly string[],
  count: number,
  width: number,
  style: TextStyle,
): readonly string[] => {
  if (lines.length <= count) return lines;
  const kept = lines.slice(0, Math.max(0, count));
  const last = kept.pop();
  return last === undefined ? kept : [...kept, ellipsed(last, width, style)];
};

const ellipsed = (line: string, width: number, style: TextStyle): string => {
  const characters = Array.from(line.trimEnd());
  while (characters.length > 0 && widthOf(`${characters.join('')}...`, style) > width) characters.pop();
  return `${characters.join('').trimEnd()}...`;
};

const wrappedParagraph = (paragraph: string, width: number, style: TextStyle): readonly string[] => {
  const lines: string[] = [];
  const space = widthOf(' ', style);
  let line = '';
  let taken = 0;
  for (const word of paragraph.split(' ')) {
    const needed = widthOf(word, style);
    if (line !== '' && taken + space + needed <= width) {
      line += ` ${word}`;
      taken += space + needed;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = needed <= width ? [word] : pieced(word, width, style);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
    taken = widthOf(line, style);
  }
  return [...lines, line];
};

/** The dots that stand for what was cut stay together. */
const CHARACTER_OR_ELLIPSIS = /\.{3}$|./gsu;

const pieced = (word: string, width: number, style: TextStyle): readonly string[] => {
  const pieces: string[] = [];
  let piece = '';
  let taken = 0;
  for (const character of word.match(CHARACTER_OR_ELLIPSIS) ?? []) {
    const needed = widthOf(character, style);
    if (piece !== '' && taken + needed > width) {
      pieces.push(piece);
      piece = '';
      taken = 0;
    }
    piece += character;
    taken += needed;
  }
  return [...pieces, piece];
};
