import * as v from 'valibot';
import { transliterate } from '../../domain/dps/transliterate.js';

type TextRules = {
  /** In Unicode code points (TEXT-1). */
  min?: number;
  max: number;
  /** True for a field of the layout's Latin-1 type, where line breaks become spaces and text without a Latin form cannot be printed. */
  latin?: boolean;
};

/** A text field of a body. Every message names the field by its API name and the limit (TEXT-1, ERR-message). */
export const text = (field: string, rules: TextRules, description: string) =>
  v.pipe(
    v.string(`${field} deve ser um texto.`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      for (const message of textProblems(field, dataset.value, rules)) addIssue({ message });
    }),
    v.description(rules.latin === true ? `${description} ${LATIN}` : description),
    v.metadata({ minLength: rules.min ?? 1, maxLength: rules.max }),
  );

/** TEXT-4. */
const LATIN = 'Sem emoji e sem letras de outros alfabetos; com acentos.';

/** A code that a later table look-up checks; what the table lacks, the empty text too, is a 422 (POSTA-country, POSTF-currency). */
export const codeText = (field: string, description: string) =>
  v.pipe(
    v.string(`${field} deve ser um texto.`),
    v.check(
      (code) => !CONTROL.test(code) && !HALF_CHARACTER.test(code),
      `${field} contém caracteres de controle, que não são aceitos.`,
    ),
    v.description(description),
  );

/** Messages about the text. A text that is too long is not examined further, so the limit also bounds the work. */
export const textProblems = (field: string, value: string, rules: TextRules): readonly string[] => {
  const { min = 1, max, latin = false } = rules;
  if (isLongerThan(max, value)) return [`${field} deve ter no máximo ${max} caracteres.`];
  if (HALF_CHARACTER.test(value)) return [`${field} contém um caractere incompleto (metade de um par Unicode).`];
  const problems: string[] = [];
  if (CONTROL.test(value))
    problems.push(`${field} contém caracteres de controle, como tabulações; só quebras de linha são aceitas.`);
  const length = codePoints(value);
  if (length < min)
    problems.push(min === 1 ? `${field} não pode ser vazio.` : `${field} deve ter de ${min} a ${max} caracteres.`);
  else if (BLANK.test(value)) problems.push(`${field} deve ter ao menos um caractere que não seja espaço.`);
  return problems.length === 0 && latin ? latinProblems(field, value, min, max) : problems;
};

/** The document carries the transliteration, which may be longer than the text, or shorter without blanks at the ends. */
const latinProblems = (field: string, value: string, min: number, max: number): readonly string[] => {
  const form = transliterate(value);
  if (form === undefined)
    return [
      `${field} tem um emoji, um símbolo ou uma letra de outro alfabeto, que a nota não aceita: retire-o ou escreva com letras latinas.`,
    ];
  const fits = form.length >= min && form.length <= max;
  return fits
    ? []
    : [
        `${field} deve ter de ${min} a ${max} caracteres como vai na nota: € vira EUR, e os espaços das pontas não contam.`,
      ];
};

export const isLongerThan = (max: number, value: string): boolean =>
  value.length > max && (value.length > 2 * max || codePoints(value) > max);

export const codePoints = (value: string): number => {
  let count = 0;
  for (const _character of value) count += 1;
  return count;
};

const HALF_CHARACTER = /\p{Cs}/u;

/** Control characters except line breaks (TEXT-3). U+FFFE and U+FFFF are no characters, and XML cannot carry them. */
const CONTROL = /[^\P{Cc}\n\r]|[\ufffe\uffff]/u;

const BLANK = /^[\s\p{White_Space}]*$/u;

export const MAX_REFERENCE = 64;

/** The caller's id of an invoice: 1 to 64 characters, no white space, no control characters (POST-reference). */
export const referenceText = (field: string, description: string) =>
  v.pipe(
    v.string(`${field} deve ser um texto.`),
    v.check((value) => value !== '', `${field} não pode ser vazio.`),
    v.check((value) => !isLongerThan(MAX_REFERENCE, value), `${field} deve ter no máximo ${MAX_REFERENCE} caracteres.`),
    v.check((value) => !FORBIDDEN.test(value), `${field} não pode ter espaços nem caracteres de controle.`),
    v.description(description),
    v.metadata({ minLength: 1, maxLength: MAX_REFERENCE, pattern: '^\\S+$' }),
  );

const FORBIDDEN = /[\s\p{White_Space}\p{Cc}\p{Cs}]/u;
