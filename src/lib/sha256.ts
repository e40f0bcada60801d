import crypto from 'node:crypto';

/** SHA-256 of bytes, or of a text as UTF-8. `binary` returns one character for each of the 32 bytes. */
export const sha256 = (data: string | Uint8Array, encoding: 'hex' | 'base64' | 'binary'): string =>
  hashAtOnce?.('sha256', data, encoding) ?? crypto.createHash('sha256').update(data).digest(encoding);

/** Node 20.12 and later. It leaves no object to the garbage collector, which is half of the cost of a short hash. */
const hashAtOnce: typeof crypto.hash | undefined = crypto.hash;
