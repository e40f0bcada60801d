import crypto from 'node:crypto';

/** SHA-256; a text as UTF-8. `binary`: a character for each of its 32 bytes. */
export const sha256 = (data: string | Uint8Array, encoding: 'hex' | 'base64' | 'binary'): string =>
  hashAtOnce?.('sha256', data, encoding) ?? crypto.createHash('sha256').update(data).digest(encoding);

/** Of Node 20.12 and later; leaves no object behind for the collector to follow, which is half the price of a short hash. */
const hashAtOnce: typeof crypto.hash | undefined = crypto.hash;
