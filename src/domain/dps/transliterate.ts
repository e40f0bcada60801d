/**
 * The text in the layout's Latin-1 type TSString: what Latin-1 has stays, other letters lose their marks, dashes, quotes
 * and the like go by table, line breaks and tabs become spaces, blanks at the ends go. Undefined where something has no
 * Latin form. Nothing is cut; the result may be longer than the input, so lengths are to be checked on it (reading 4).
 */
export const transliterate = (text: string): string | undefined => {
  // Almost every text; a sequence of these is composed already.
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
  const form = TABLE[character] ?? withoutMarks(character);
  return [...form].every((part) => LATIN_1.test(part)) ? form : undefined;
};

const withoutMarks = (character: string): string => {
  const bare = character.normalize('NFKD').replace(/\p{M}/gu, '');
  // A mark on its own, left over from a letter that Unicode cannot compose.
  return TABLE[bare] ?? bare;
};

/** Visible characters of Latin-1; its control characters are none of them. */
const LATIN_1 = /^[ -~¡-ÿ]$/u;
const ALL_LATIN_1 = /^[ -~¡-ÿ]*$/;

const BLANK = /^[\s\u0085\u2028\u2029]$/u;

/** Joiners, direction marks and variation selectors: they change how text looks, not what it says. */
const INVISIBLE = /^(?:[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\p{Variation_Selector})$/u;

const TABLE: Readonly<Record<string, string>> = {
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ħ: 'h',
  Ħ: 'H',
  ŧ: 't',
  Ŧ: 'T',
  ı: 'i',
  ĸ: 'k',
  ŋ: 'n',
  Ŋ: 'N',
  œ: 'oe',
  Œ: 'OE',
  ẞ: 'SS',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '–': '-',
  '—': '-',
  '―': '-',
  '−': '-',
  '‘': "'",
  '’': "'",
  '‚': "'",
  '‛': "'",
  '′': "'",
  '‹': "'",
  '›': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '‟': '"',
  '″': '"',
  '•': '·',
  '⁄': '/',
  '€': 'EUR',
};
