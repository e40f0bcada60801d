import { type Canonical, field } from '../common/canonical-xml.js';

/**
 * The text in the layout's Latin-1 type TSString; undefined where a character has no Latin form (TEXT-4). Latin-1 characters stay, other
 * letters lose their marks, a table replaces dashes, quotes and the like, line breaks and tabs become spaces, and blanks at the ends go.
 * Nothing is cut. The result may be longer than the input, so callers check lengths on the result.
 */
export const transliterate = (text: string): string | undefined => {
  // The common case. A sequence of these characters is composed already.
  if (ALL_LATIN_1.test(text)) return text.trim();
  let latin = '';
  for (const character of text.normalize('NFC').replaceAll('\r\n', '\n')) {
    const form = latinForm(character);
    if (form === undefined) return undefined;
    latin += form;
  }
  return latin.trim();
};

const latinForm = (character: string): string | undefined => {
  if (LATIN_1.test(character)) return character;
  if (BLANK.test(character)) return ' ';
  if (INVISIBLE.test(character)) return '';
  const form = TABLE.get(character) ?? withoutMarks(character);
  return [...form].every((part) => LATIN_1.test(part)) ? form : undefined;
};

const withoutMarks = (character: string): string => {
  const bare = character.normalize('NFKD').replace(/\p{M}/gu, '');
  // The result is empty for a lone mark, left over from a letter that Unicode cannot compose.
  return TABLE.get(bare) ?? bare;
};

/** Visible characters of Latin-1, without its control characters. */
const LATIN_1 = /^[ -~¡-ÿ]$/u;
const ALL_LATIN_1 = /^[ -~¡-ÿ]*$/;

const BLANK = /^[\s\u0085\u2028\u2029]$/u;

/** Joiners, direction marks and variation selectors: they change how text looks, not its content. */
const INVISIBLE = /^(?:[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\p{Variation_Selector})$/u;

/** What replaces these characters. */
const REPLACED: Readonly<Record<string, string>> = {
  a: 'ɑⱥ',
  A: 'ⱭȺ',
  b: 'ɓƀ',
  B: 'ƁɃ',
  c: 'ƈȼ',
  C: 'ƇȻ',
  d: 'đɗɖ',
  D: 'ĐƊƉ',
  e: 'əǝɛɇ',
  E: 'ƏƎƐɆ',
  f: 'ƒ',
  F: 'Ƒ',
  g: 'ɠǥɡɣ',
  G: 'ƓǤƔꞬ',
  h: 'ħ',
  H: 'Ħ',
  i: 'ıɨɩ',
  I: 'ƗƖ',
  j: 'ɉ',
  J: 'Ɉ',
  k: 'ĸƙ',
  K: 'Ƙ',
  l: 'łƚɫɬ',
  L: 'ŁȽⱢꞭ',
  n: 'ŋɲƞ',
  N: 'ŊƝȠ',
  "'n": 'ŉ',
  o: 'ɔɵ',
  O: 'ƆƟ',
  oe: 'œ',
  OE: 'Œ',
  p: 'ƥ',
  P: 'Ƥ',
  r: 'ɍ',
  R: 'Ɍ',
  SS: 'ẞ',
  t: 'ŧƭʈⱦ',
  T: 'ŦƬƮȾ',
  u: 'ʉʊ',
  U: 'ɄƱ',
  v: 'ʋ',
  V: 'Ʋ',
  y: 'ƴɏ',
  Y: 'ƳɎ',
  z: 'ƶʒ',
  Z: 'ƵƷ',
  '-': '‐‑‒–—―−',
  // Many alphabets of Latin script have letters that look like an apostrophe: okina, soft sign, hamza, ayn, saltillo, glottal stop.
  "'": '‘’‚‛′‹›ʹʻʼʽʾʿˀꞌꞋʔɂɁ',
  '"': '“”„‟″ʺˮ',
  ':': '꞉',
  // Clicks, as in names of Namibia.
  '!': 'ǃ',
  '|': 'ǀ',
  '||': 'ǁ',
  '#': 'ǂ',
  '·': '•',
  '/': '⁄',
  EUR: '€',
};

const TABLE: ReadonlyMap<string, string> = new Map(
  Object.entries(REPLACED).flatMap(([form, characters]) => [...characters].map((character) => [character, form])),
);

/** A field of the layout's Latin-1 type. Throws for text without a Latin form, which acceptance has already refused (TEXT-4). */
export const latinField = (name: string, value: string): Canonical => {
  const latin = transliterate(value);
  if (latin === undefined) throw new Error(`the text of ${name} has no Latin form`);
  return field(name, latin);
};
