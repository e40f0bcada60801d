import type { Context } from 'hono';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { UNAVAILABLE_RETRY_SECONDS } from '../faults.js';
import { type BodyShare, createBodyBudget, FREE_BYTES } from './body-budget.js';
import { nestingOf } from './depth.js';

export type JsonBody = { [key: string]: unknown };

/** 10 MiB; the spec's 10 MB pass (reading 44). */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** No valid body nests deeper than 3; parsing millions of levels would block the process for seconds. */
const MAX_DEPTH = 64;

/** Six of the largest bodies. Of the process, not of a key: memory has one limit, however many ask. */
const budget = createBodyBudget(64 * 1024 * 1024);

/** 415 for the type or a compressed body, 413, 503 without memory for it, 400 `malformed_json`, 400 `invalid_request` in this order (readings 6 to 9). */
export const readJsonObject = async (c: Context): Promise<{ body: JsonBody } | { refused: Refusal }> => {
  if (!JSON_TYPE.test(c.req.header('content-type') ?? '')) return { refused: { code: 'unsupported_media_type' } };
  if (isEncoded(c)) return { refused: encoded };
  const share = budget.share();
  try {
    const bytes = await readBytes(c, share);
    if (bytes === 'too_large') return { refused: { code: 'payload_too_large' } };
    if (bytes === 'no_room') return { refused: noRoom };
    const text = bytes === 'aborted' ? undefined : decoded(bytes);
    const nesting = text === undefined ? 'unclosed' : nestingOf(MAX_DEPTH, text);
    if (nesting === 'too_deep') return { refused: invalid(TOO_DEEP) };
    const body = text === undefined || nesting === 'unclosed' ? undefined : parse(text);
    if (body === undefined) return { refused: { code: 'malformed_json' } };
    return isObject(body.value) ? { body: body.value } : { refused: invalid(NOT_AN_OBJECT) };
  } finally {
    share.release();
  }
};

export const isObject = (value: unknown): value is JsonBody =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parameters have no meaning for JSON, which is always UTF-8. A comma would mean several types. */
const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;[^,]*)?$/i;

/** Unpacking is what a bomb would need; a body read as it came would be called malformed, which tells a client nothing. */
const isEncoded = (c: Context): boolean =>
  !/^(?:identity)?$/i.test(c.req.header('content-encoding') ?? '') ||
  !/^(?:chunked)?$/i.test(c.req.header('transfer-encoding') ?? '');

type Unread = 'too_large' | 'no_room' | 'aborted';

/** A declared length is trusted only to refuse early or where the server's parser enforces it; without one, bytes are counted. */
const readBytes = async (c: Context, share: BodyShare): Promise<Uint8Array | Unread> => {
  const declared = c.req.header('content-length');
  const length = declared === undefined ? 0 : Number(declared);
  const refused = coverOf(length, share);
  if (refused !== undefined) return refused;
  try {
    const isFramed = declared !== undefined && c.req.header('transfer-encoding') === undefined;
    // The server keeps what it reads at once until the answer is out, longer than the share is held.
    if (isFramed && length <= FREE_BYTES) return new Uint8Array(await c.req.raw.arrayBuffer());
    return await readCounting(c.req.raw.body, share);
  } catch {
    // The client went away: whatever is answered, nobody reads it, and it is no fault of ours.
    return 'aborted';
  }
};

const coverOf = (size: number, share: BodyShare): Unread | undefined => {
  if (size > MAX_BODY_BYTES) return 'too_large';
  return share.cover(size) ? undefined : 'no_room';
};

const readCounting = async (
  stream: ReadableStream<Uint8Array> | null,
  share: BodyShare,
): Promise<Uint8Array | Unread> => {
  if (stream === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.byteLength;
    const refused = coverOf(size, share);
    if (refused !== undefined) {
      await reader.cancel();
      return refused;
    }
    chunks.push(next.value);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
};

/** Skips a leading byte order mark (reading 7). */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
};

const parse = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

const encoded: Refusal = {
  code: 'unsupported_media_type',
  message: 'O corpo deve vir sem compressão: retire o cabeçalho Content-Encoding.',
};

const NOT_AN_OBJECT = 'O corpo deve ser um objeto JSON.';
const TOO_DEEP = `O corpo tem mais de ${MAX_DEPTH} níveis de objetos e listas.`;

/** A cause that is no field's: its `param` is absent from the answer. */
const invalid = (message: string): Refusal => ({
  code: 'invalid_request',
  message,
  causes: [{ param: '', message }],
});

const noRoom: Refusal = { code: 'service_unavailable', retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS };
