import { gunzipSync, gzipSync } from 'node:zlib';

/** The form in which documents travel and are stored: base64 of the gzipped bytes (domain.md section 3). */
export const gzipBase64 = (bytes: Buffer): string => gzipSync(bytes).toString('base64');

export type Unpacked = { ok: true; bytes: Buffer } | { ok: false; reason: 'not_base64' | 'not_gzip' | 'too_large' };

/** The reverse, for text from outside. `maxBytes` limits the document itself, so a small bomb cannot grow. */
export const gunzipBase64 = (text: string, maxBytes: number): Unpacked => {
  if (text === '' || !BASE64.test(text)) return { ok: false, reason: 'not_base64' };
  try {
    return { ok: true, bytes: gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: maxBytes }) };
  } catch (error) {
    const tooLarge = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { ok: false, reason: tooLarge ? 'too_large' : 'not_gzip' };
  }
};

/** White space is tolerated, as every decoder of base64 on the wire does. No two parts fit the same text: the cost is linear. */
const BASE64 = /^[A-Za-z0-9+/\s]+(?:={1,2}\s*)?$/;
