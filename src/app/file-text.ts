import * as v from 'valibot';

/** A text of an operator's file: trimmed, not empty, at most `max` characters, nothing that a document could not carry. */
export const fileText = (max: number) =>
  v.pipe(
    v.string('must be a text'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `is longer than ${max} characters`),
    v.check((value) => !UNPRINTABLE.test(value), 'has control characters'),
  );

/** U+FFFE and U+FFFF are no characters, and XML cannot carry them. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\ufffe\uffff]/u;
