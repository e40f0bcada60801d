import * as v from 'valibot';
import { isXmlText } from '../../domain/shared/canonical-xml.js';

/** A text of an operator's file: trimmed, not empty, at most `max` characters, and only characters that an XML document can carry. */
export const fileText = (max: number) =>
  v.pipe(
    v.string('must be a text'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `is longer than ${max} characters`),
    v.check((value) => isXmlText(value) && !/\p{Cc}/u.test(value), 'has control characters'),
  );
