import * as v from 'valibot';
import { isLongerThan } from './text.js';

export const MAX_REFERENCE = 64;

/** The caller's id of an invoice: 1 to 64 characters, no white space, no control characters (reading 56). */
export const referenceText = (field: string, description: string) =>
  v.pipe(
    v.string(`${field} deve ser um texto.`),
    v.check((value) => value !== '', `${field} não pode ser vazio.`),
    v.check((value) => !isLongerThan(MAX_REFERENCE, value), `${field} deve ter no máximo ${MAX_REFERENCE} caracteres.`),
    v.check((value) => !FORBIDDEN.test(value), `${field} não pode ter espaços nem caracteres de controle.`),
    v.description(description),
    v.metadata({ minLength: 1, maxLength: MAX_REFERENCE }),
  );

const FORBIDDEN = /[\s\p{White_Space}\p{Cc}\p{Cs}]/u;
