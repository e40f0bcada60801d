import { hash } from 'node:crypto';

/** SHA-256; `binary` is one character a byte. `hash` leaves no object to the garbage collector, which is half of the cost of a short hash. */
export const sha256 = (data: string | Uint8Array, encoding: 'hex' | 'base64' | 'binary'): string =>
  hash('sha256', data, encoding);
