import * as v from 'valibot';
import { isXmlText } from '../../domain/common/canonical-xml.js';

/** A text of a form; `message` says which, without a value. */
export const shaped = (pattern: RegExp, message: string) =>
  v.pipe(v.string('must be a text'), v.regex(pattern, message));

export const cnpj = shaped(/^[0-9A-Z]{12}\d{2}$/, 'must be the 14 characters of the CNPJ, without a mask');

/** The problems whose condition holds. */
export const problemsIf = (checks: readonly (readonly [isWrong: boolean, problem: string])[]): readonly string[] =>
  checks.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []));

/** A text of an operator's file: trimmed, not empty, at most `max` characters, and only characters that an XML document can carry. */
export const fileText = (max: number) =>
  v.pipe(
    v.string('must be a text'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `is longer than ${max} characters`),
    v.check((value) => isXmlText(value) && !/\p{Cc}/u.test(value), 'has control characters'),
  );
