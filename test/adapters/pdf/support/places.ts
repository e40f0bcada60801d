import type { Word } from './poppler.js';

/** Upper left corner of a text in centimetres. */
export type Place = { left: number; top: number };

/** Everywhere that the words of `text` stand one after another on one line. */
export const placesOf = (words: readonly Word[], text: string): readonly Place[] => {
  const wanted = text.split(' ');
  return words
    .filter((word) => word.text === wanted[0])
    .filter((first) => {
      const line = lineFrom(words, first);
      return wanted.every((each, index) => line[index]?.text === each);
    })
    .map(({ left, top }) => ({ left, top }));
};

/** The text of the line at `place`, up to the first gap that is wider than a space. */
export const textAt = (words: readonly Word[], place: Place): string | undefined => {
  const first = words.find(({ left, top }) => Math.abs(left - place.left) < 0.05 && Math.abs(top - place.top) < 0.05);
  if (first === undefined) return undefined;
  const line = lineFrom(words, first);
  const end = line.findIndex((word, index) => index > 0 && word.left - (line[index - 1]?.right ?? 0) > 0.15);
  return line
    .slice(0, end < 0 ? undefined : end)
    .map((word) => word.text)
    .join(' ');
};

const lineFrom = (words: readonly Word[], first: Word): readonly Word[] =>
  words
    .filter(({ left, top }) => Math.abs(top - first.top) < 0.02 && left >= first.left)
    .toSorted((one, other) => one.left - other.left);
