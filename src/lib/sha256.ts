import { hash } from 'node:crypto';

/**
 * SHA-256 of bytes, or of a text as UTF-8. `binary` returns one character for each of the 32 bytes. `hash` leaves no object to the garbage collector,
 * which is half of the cost of a short hash.
 */
export const sha256 = (data: string | Uint8Array, encoding: 'hex' | 'base64' | 'binary'): string =>
  hash('sha256', data, encoding);
