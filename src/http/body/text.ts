import * as v from 'valibot';
import { transliterate } from '../../domain/dps/transliterate.js';

export type TextRules = {
  /** In Unicode code points (reading 4). */
  min?: number;
  max: number;
  /** The layout's type is Latin-1 without line breaks, which become spaces: what has no Latin form cannot be printed. */
  latin?: boolean;
};

/** A text field of a body. Every sentence names the field by its API name and the limit (readings 4 and 46). */
export const text = (field: string, rules: TextRules, description: string) =>
  v.pipe(
    v.string(`${field} deve ser um texto.`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      for (const message of textProblems(field, dataset.value, rules)) addIssue({ message });
    }),
    v.description(description),
    v.metadata({ minLength: rules.min ?? 1, maxLength: rules.max }),
  );

/** Far beyond every code, and far below the length at which the reader cuts a text: what was cut is refused as too long. */
export const MAX_CODE = 1_000;

export const codeTooLong = (field: string): string => `${field} deve ter no máximo ${MAX_CODE} caracteres.`;

/** A code that a table decides about: whatever is not in the table is a 422 of its own, the empty text too (reading 40). */
export const codeText = (field: string, description: string) =>
  v.pipe(
    v.string(`${field} deve ser um texto.`),
    v.maxLength(MAX_CODE, codeTooLong(field)),
    v.check(
      (code) => !CONTROL.test(code) && !HALF_CHARACTER.test(code),
      `${field} contém caracteres de controle, que não são aceitos.`,
    ),
    v.description(description),
  );

/** Nothing is looked at that is too long: the limit also bounds the work. */
export const textProblems = (field: string, value: string, rules: TextRules): readonly string[] => {
  const { min = 1, max, latin = false } = rules;
  if (isLongerThan(max, value)) return [`${field} deve ter no máximo ${max} caracteres.`];
  if (HALF_CHARACTER.test(value)) return [`${field} contém um caractere incompleto (metade de um par Unicode).`];
  const problems: string[] = [];
  if (CONTROL.test(value)) problems.push(`${field} contém caracteres de controle, que não são aceitos.`);
  const length = codePoints(value);
  if (length < min)
    problems.push(min === 1 ? `${field} não pode ser vazio.` : `${field} deve ter de ${min} a ${max} caracteres.`);
  else if (BLANK.test(value)) problems.push(`${field} deve ter ao menos um caractere que não seja espaço.`);
  return problems.length === 0 && latin ? latinProblems(field, value, min, max) : problems;
};

/** The document carries the transliteration, which may be longer than the text, or shorter: blanks at the ends go. */
const latinProblems = (field: string, value: string, min: number, max: number): readonly string[] => {
  const form = transliterate(value);
  if (form === undefined)
    return [`${field} contém caracteres sem forma no alfabeto latino, que a nota não pode levar.`];
  const fits = form.length >= min && form.length <= max;
  return fits
    ? []
    : [`${field} deve ter de ${min} a ${max} caracteres depois de escrito no alfabeto latino, sem espaços nas pontas.`];
};

export const isLongerThan = (max: number, value: string): boolean =>
  value.length > max && (value.length > 2 * max || codePoints(value) > max);

export const codePoints = (value: string): number => {
  let count = 0;
  for (const _character of value) count += 1;
  return count;
};

const HALF_CHARACTER = /\p{Cs}/u;

/** All but line breaks (reading 4). U+FFFE and U+FFFF are no characters, and XML cannot carry them. */
const CONTROL = /[^\P{Cc}\n\r]|[\ufffe\uffff]/u;

const BLANK = /^[\s\p{White_Space}]*$/u;
