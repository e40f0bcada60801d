import { gunzipSync, gzipSync } from 'node:zlib';

/** Base64 of the gzipped bytes, in which documents travel (docs/national-system.md#packed-documents) and are stored. */
export const gzipBase64 = (bytes: Buffer): string => gzipSync(bytes).toString('base64');

type Unpacked = { ok: true; bytes: Buffer } | { ok: false; reason: 'not_base64' | 'not_gzip' | 'too_large' };

/** The reverse, for received text. `maxBytes` limits the unpacked document, so that a small bomb cannot grow. */
export const gunzipBase64 = (text: string, maxBytes: number): Unpacked => {
  if (text === '' || !BASE64.test(text)) return { ok: false, reason: 'not_base64' };
  try {
    return { ok: true, bytes: gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: maxBytes }) };
  } catch (error) {
    const tooLarge = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { ok: false, reason: tooLarge ? 'too_large' : 'not_gzip' };
  }
};

/** White space is tolerated, as decoders of base64 do. No two parts of the pattern match the same text, so its cost is linear. */
const BASE64 = /^[A-Za-z0-9+/\s]+(?:={1,2}\s*)?$/;
