import { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import { UNAVAILABLE_RETRY_SECONDS } from '../faults.js';
import { createFramingCheck, type FramingCheck } from '../unread-body.js';
import { type BodyShare, createBodyBudget, FREE_BYTES } from './body-budget.js';
import { MAX_DEPTH, MAX_DIGITS, MAX_STRUCTURE, MAX_TEXT_BYTES } from './json-bounds.js';
import type { Scanned } from './json-scanner.js';
import { type BodyScan, createBodyScan } from './scan-body.js';

export type JsonBody = { [key: string]: unknown };

/** 10 MiB; the spec's 10 MB pass (reading 44). */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Six of the largest bodies. Of the process, not of a key: memory has one limit, however many ask. */
const budget = createBodyBudget(64 * 1024 * 1024);

/** 415 for the type or a compressed body, 413, 503 without memory for it, 400 `malformed_json`, 400 `invalid_request` in this order (readings 6 to 9). */
export const readJsonObject = async (c: Context): Promise<{ body: JsonBody } | { refused: Refusal }> => {
  if (!JSON_TYPE.test(c.req.header('content-type') ?? '')) return { refused: { code: 'unsupported_media_type' } };
  if (isEncoded(c)) return { refused: encoded };
  const share = budget.share();
  try {
    const scan = createBodyScan();
    const unread = await readInto(scan, c, share);
    if (unread === 'too_large') return { refused: { code: 'payload_too_large' } };
    if (unread === 'no_room') return { refused: noRoom };
    if (unread === 'tiny_chunks') return { refused: invalid(TINY_CHUNKS) };
    return unread === 'aborted' ? { refused: malformed } : bodyOf(scan.end());
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

type Unread = 'too_large' | 'no_room' | 'tiny_chunks' | 'aborted';

/** A declared length is trusted only to refuse early or where the server's parser enforces it; without one, bytes are counted. */
const readInto = async (scan: BodyScan, c: Context, share: BodyShare): Promise<Unread | undefined> => {
  const declared = c.req.header('content-length');
  const length = declared === undefined ? 0 : Number(declared);
  const refused = coverOf(length, share);
  if (refused !== undefined) return refused;
  const isFramed = declared !== undefined && c.req.header('transfer-encoding') === undefined;
  // The server keeps what it reads at once until the answer is out, longer than the share is held.
  if (!isFramed || length > FREE_BYTES)
    return await readCounting(scan, chunksOf(c), share, isFramed ? undefined : framingCheckOf(c));
  const bytes = await c.req.raw.arrayBuffer().catch(clientGone);
  if (bytes === 'aborted') return bytes;
  await scan.take(new Uint8Array(bytes));
  return undefined;
};

/** Whatever is answered, nobody reads it, and it is no fault of ours. */
const clientGone = (): 'aborted' => 'aborted';

const coverOf = (size: number, share: BodyShare): Unread | undefined => {
  if (size > MAX_BODY_BYTES) return 'too_large';
  return share.cover(size) ? undefined : 'no_room';
};

type Chunks = AsyncIterator<Uint8Array>;

/**
 * From the connection itself where there is one: a stream of the web over it would take in all that comes, however slowly it is
 * read, and the client would not be held back.
 */
const chunksOf = (c: Context): Chunks | undefined => {
  const { incoming }: Partial<HttpBindings> = c.env ?? {};
  return incoming === undefined ? c.req.raw.body?.values() : incoming.iterator({ destroyOnReturn: false });
};

const framingCheckOf = (c: Context): FramingCheck | undefined => {
  const { incoming }: Partial<HttpBindings> = c.env ?? {};
  return incoming instanceof IncomingMessage ? createFramingCheck(incoming) : undefined;
};

/** Bytes are read to the end or to the limit, whatever they hold: a body that is too large is told so before anything else. */
const readCounting = async (
  scan: BodyScan,
  chunks: Chunks | undefined,
  share: BodyShare,
  hasTinyChunks: FramingCheck = () => false,
): Promise<Unread | undefined> => {
  let size = 0;
  for (;;) {
    const next = await chunks?.next().catch(clientGone);
    if (next === 'aborted') return next;
    if (next === undefined || next.done) return undefined;
    size += next.value.byteLength;
    const refused = coverOf(size, share) ?? (hasTinyChunks(size) ? 'tiny_chunks' : undefined);
    if (refused !== undefined) {
      await chunks?.return?.();
      return refused;
    }
    await scan.take(next.value);
  }
};

const bodyOf = (scanned: Scanned): { body: JsonBody } | { refused: Refusal } => {
  switch (scanned.kind) {
    case 'malformed':
      return { refused: malformed };
    case 'too_deep':
      return { refused: invalid(TOO_DEEP) };
    case 'too_much_structure':
      return { refused: invalid(TOO_MUCH_STRUCTURE) };
    case 'too_many_digits':
      return { refused: invalid(TOO_MANY_DIGITS) };
    case 'too_long':
      return { refused: invalid(TOO_LONG) };
    case 'text':
      return parsed(scanned.text);
    default:
      return unreachable(scanned);
  }
};

const parsed = (text: string): { body: JsonBody } | { refused: Refusal } => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { refused: malformed };
  }
  return isObject(value) ? { body: value } : { refused: invalid(NOT_AN_OBJECT) };
};

const malformed: Refusal = { code: 'malformed_json' };

const encoded: Refusal = {
  code: 'unsupported_media_type',
  message: 'O corpo deve vir sem compressão: retire o cabeçalho Content-Encoding.',
};

const NOT_AN_OBJECT = 'O corpo deve ser um objeto JSON.';
const TOO_DEEP = `O corpo tem mais de ${MAX_DEPTH} níveis de objetos e listas.`;
const TOO_MUCH_STRUCTURE = `O corpo tem mais de ${MAX_STRUCTURE} vírgulas, dois-pontos, chaves e colchetes. Envie só os campos da API.`;
const TOO_MANY_DIGITS = `O corpo tem um número com mais de ${MAX_DIGITS} algarismos seguidos. Envie os valores em centavos.`;
const TINY_CHUNKS = 'O corpo vem em pedaços (chunks) pequenos demais. Envie-o inteiro, com Content-Length.';
const TOO_LONG = `O corpo tem mais de ${MAX_TEXT_BYTES / 1024} KiB de conteúdo. Envie só os campos da API.`;

/** A cause that is no field's: its `param` is absent from the answer. */
const invalid = (message: string): Refusal => ({
  code: 'invalid_request',
  message,
  causes: [{ param: '', message }],
});

const noRoom: Refusal = { code: 'service_unavailable', retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS };
