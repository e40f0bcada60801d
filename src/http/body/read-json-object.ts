import type { Context } from 'hono';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { isDeeperThan } from './depth.js';

export type JsonBody = { [key: string]: unknown };

/** 10 MiB; the spec's 10 MB pass (reading 44). */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** No valid body nests deeper than 3; parsing millions of levels would block the process for seconds. */
const MAX_DEPTH = 64;

/** 415, 413, 400 `malformed_json`, 400 `invalid_request` in this order (spec "Errors", readings 6 to 9). */
export const readJsonObject = async (c: Context): Promise<{ body: JsonBody } | { refused: Refusal }> => {
  if (!isJson(c.req.header('content-type'))) return { refused: { code: 'unsupported_media_type' } };
  const bytes = await readBytes(c);
  if (bytes === 'too_large') return { refused: { code: 'payload_too_large' } };
  const body = bytes === 'aborted' ? undefined : parse(bytes);
  if (body === undefined) return { refused: { code: 'malformed_json' } };
  return isObject(body.value) ? { body: body.value } : { refused: notAnObject };
};

export const isObject = (value: unknown): value is JsonBody =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isJson = (contentType: string | undefined): boolean =>
  contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';

/** A declared length is trusted only to refuse early or where the server's parser enforces it; without one, bytes are counted. */
const readBytes = async (c: Context): Promise<Uint8Array | 'too_large' | 'aborted'> => {
  const declared = c.req.header('content-length');
  if (declared !== undefined && Number(declared) > MAX_BODY_BYTES) return 'too_large';
  try {
    const isFramed = declared !== undefined && c.req.header('transfer-encoding') === undefined;
    if (isFramed) return new Uint8Array(await c.req.raw.arrayBuffer());
    return await readCounting(c.req.raw.body);
  } catch {
    // The client went away: whatever is answered, nobody reads it, and it is no fault of ours.
    return 'aborted';
  }
};

const readCounting = async (stream: ReadableStream<Uint8Array> | null): Promise<Uint8Array | 'too_large'> => {
  if (stream === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.byteLength;
    if (size > MAX_BODY_BYTES) {
      await reader.cancel();
      return 'too_large';
    }
    chunks.push(next.value);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
};

/** Skips a leading byte order mark (reading 7). */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const parse = (bytes: Uint8Array): { value: unknown } | undefined => {
  try {
    const text = utf8.decode(bytes);
    return isDeeperThan(MAX_DEPTH, text) ? undefined : { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

const NOT_AN_OBJECT = 'O corpo deve ser um objeto JSON.';

const notAnObject: Refusal = {
  code: 'invalid_request',
  message: NOT_AN_OBJECT,
  causes: [{ param: '', message: NOT_AN_OBJECT }],
};
