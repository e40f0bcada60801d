import { gunzipSync, gzipSync } from 'node:zlib';

/** Base64 of the gzipped bytes, as events keep documents (`*Gzip`). */
export const packed = (bytes: Uint8Array): string => gzipSync(bytes).toString('base64');

/** The bytes of a kept document. Throws for damaged text, and for what unpacks to more than `maxBytes`. */
export const unpacked = (gzip: string, maxBytes?: number): Buffer =>
  gunzipSync(Buffer.from(gzip, 'base64'), { maxOutputLength: maxBytes });
