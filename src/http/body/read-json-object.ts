import { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import type { Refusal } from '../../domain/common/error-catalogue.js';
import { withLineFeeds } from '../../domain/common/line-ends.js';
import { UNAVAILABLE_RETRY_SECONDS } from '../faults.js';
import { incomingOf, isRefusedByServer } from '../in-hand.js';
import { createTurns, type TakeTurn } from '../turns.js';
import { createFramingCheck, type FramingCheck } from '../unread-body.js';
import {
  createJsonScanner,
  type JsonScanner,
  MAX_DEPTH,
  MAX_DIGITS,
  MAX_STRUCTURE,
  MAX_TEXT_BYTES,
  type Scanned,
} from './json-scanner.js';

/** Bodies up to this size need no share: memory holds as many of them as there may be connections. */
export const FREE_BYTES = 64 * 1024;

/** The part of the budget that one body holds. */
type BodyShare = {
  /** Raises the share to `size` bytes in total; false when the budget has no room. */
  cover(size: number): boolean;
  release(): void;
};

/** Bounds the total size of all large bodies in memory. */
export const createBodyBudget = (limitBytes: number): { share(): BodyShare } => {
  let taken = 0;
  return {
    share: () => {
      let own = 0;
      return {
        cover: (size) => {
          // Written so that a declared length that is not a number takes nothing either.
          if (!(size > FREE_BYTES && size > own)) return true;
          const more = size - own;
          if (taken + more > limitBytes) return false;
          taken += more;
          own = size;
          return true;
        },
        release: () => {
          taken -= own;
          own = 0;
        },
      };
    },
  };
};

export type JsonBody = { [key: string]: unknown };

/** 10 MiB; the contract's 10 MB pass (LIMIT-6). */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Room for six of the largest bodies. Shared by the whole process, because memory has one limit for all keys. */
const budget = createBodyBudget(64 * 1024 * 1024);

export type ReadBody = () => Promise<{ body: JsonBody } | { refused: Refusal }>;

/**
 * Reads the body. Refusals in this order: 415 (type, compression), 413, 503 (memory), 400 `malformed_json`, 400 `invalid_request`. A route reads its
 * body through `withKeyAndBody`.
 */
export const readJsonObject = async (c: Context): Promise<{ body: JsonBody } | { refused: Refusal }> => {
  if (!JSON_TYPE.test(withoutQuoted(c.req.header('content-type') ?? '')))
    return { refused: { code: 'unsupported_media_type' } };
  const encoding = encodingOf(c);
  if (encoding !== undefined) return { refused: encoding };
  const share = budget.share();
  try {
    const scanner = createJsonScanner();
    const refused = (await readInto(scanner, c, share)) ?? (isRefusedByServer(c) ? notWhole : undefined);
    return refused === undefined ? bodyOf(scanner.end()) : { refused };
  } finally {
    share.release();
  }
};

export const isObject = (value: unknown): value is JsonBody =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON is always UTF-8, so parameters have no meaning. A comma would mean several types. */
const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;[^,]*)?$/i;

/** The header without the texts in quotes, which may hold a comma. The quotes stay, so that they join no words. */
const withoutQuoted = (header: string): string =>
  header
    .split('"')
    .filter((_part, index) => index % 2 === 0)
    .join('"');

/**
 * The refusal of a compressed body. Unpacking would admit a compression bomb. Read packed, the body would be called malformed, which does not help a
 * client.
 */
const encodingOf = (c: Context): Refusal | undefined => {
  if (!/^(?:identity)?$/i.test(c.req.header('content-encoding') ?? '')) return encoded;
  return /^(?:chunked)?$/i.test(c.req.header('transfer-encoding') ?? '') ? undefined : encodedTransfer;
};

/** A declared length only refuses early, or counts where the server's parser enforces it; without one, bytes are counted. */
const readInto = async (scanner: JsonScanner, c: Context, share: BodyShare): Promise<Refusal | undefined> => {
  const declared = c.req.header('content-length');
  const length = declared === undefined ? 0 : Number(declared);
  const refused = coverOf(length, share);
  if (refused !== undefined) return refused;
  const isFramed = declared !== undefined && c.req.header('transfer-encoding') === undefined;
  // A body that the server reads in one piece stays in memory until the answer is out, longer than the share is held.
  if (!isFramed || length > FREE_BYTES)
    return await readCounting(scanner, chunksOf(c), share, isFramed ? undefined : framingCheckOf(c));
  const bytes = await c.req.raw.arrayBuffer().catch(clientGone);
  if (bytes === undefined) return notWhole;
  await scanInTurns(scanner, new Uint8Array(bytes));
  return undefined;
};

/** No answer reaches a client that is gone, and there is no fault of ours. */
const clientGone = (): undefined => undefined;

const coverOf = (size: number, share: BodyShare): Refusal | undefined => {
  if (size > MAX_BODY_BYTES) return { code: 'payload_too_large' };
  return share.cover(size) ? undefined : noRoom;
};

type Chunks = AsyncIterator<Uint8Array>;

/**
 * Chunks from the connection itself, where there is one. A web stream over the connection would take in all that arrives, however slowly it is
 * read, and would not hold the client back.
 */
const chunksOf = (c: Context): Chunks | undefined => {
  const incoming = incomingOf(c);
  return incoming === undefined ? c.req.raw.body?.values() : incoming.iterator({ destroyOnReturn: false });
};

const framingCheckOf = (c: Context): FramingCheck | undefined => {
  const incoming = incomingOf(c);
  return incoming instanceof IncomingMessage ? createFramingCheck(incoming) : undefined;
};

/** Reads to the end or to the limit, whatever the bytes hold: a body that is too large is refused for its size first. */
const readCounting = async (
  scanner: JsonScanner,
  chunks: Chunks | undefined,
  share: BodyShare,
  hasTinyChunks: FramingCheck = () => false,
): Promise<Refusal | undefined> => {
  let size = 0;
  for (;;) {
    const next = await chunks?.next().catch(clientGone);
    if (next === undefined) return notWhole;
    if (next.done) return undefined;
    size += next.value.byteLength;
    const refused = coverOf(size, share) ?? (hasTinyChunks(size) ? tinyChunks : undefined);
    if (refused !== undefined) {
      await chunks?.return?.();
      return refused;
    }
    await scanInTurns(scanner, next.value);
  }
};

/** Most bytes scanned in one go. */
export const SLICE_BYTES = 16 * 1024;

/** Less than half a millisecond of work; twenty times that until the code is compiled. */
const BYTES_PER_TURN = 32 * 1024;

/** Shared by the whole process, like the event loop, so that many bodies block no longer than one. */
const processTurns = createTurns(BYTES_PER_TURN);

/** Scans slice by slice, each slice in a turn of the event loop that has room for it. */
export const scanInTurns = async (
  scanner: Pick<JsonScanner, 'feed'>,
  chunk: Uint8Array,
  takeTurn: TakeTurn = processTurns,
): Promise<void> => {
  for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
    const slice = chunk.subarray(from, from + SLICE_BYTES);
    await takeTurn(slice.length);
    scanner.feed(slice);
  }
};

const bodyOf = (scanned: Scanned): { body: JsonBody } | { refused: Refusal } => {
  if (scanned.kind === 'text') return parsed(scanned.text);
  return { refused: scanned.kind === 'too_many_digits' ? tooManyDigits(scanned.field) : refusalOf[scanned.kind] };
};

const parsed = (text: string): { body: JsonBody } | { refused: Refusal } => {
  if (text === '') return { refused: empty };
  let value: unknown;
  try {
    value = JSON.parse(text, CARRIAGE_RETURN.test(text) ? lineFeedsIn : undefined);
  } catch {
    return { refused: malformed };
  }
  return isObject(value) ? { body: value } : { refused: notAnObject };
};

/** In JSON a carriage return can only be written as an escape. Also matches an escaped backslash before an r, which changes nothing. */
const CARRIAGE_RETURN = /\\(?:r|u000d)/i;

/** Limits, hashes and the record know one form of a line end (TEXT-5). */
const lineFeedsIn = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? withLineFeeds(value) : value;

const malformed: Refusal = { code: 'malformed_json' };

const empty: Refusal = {
  code: 'malformed_json',
  message: 'O corpo está vazio. Envie um objeto JSON; no cancelamento, {} basta.',
};

const encoded: Refusal = {
  code: 'unsupported_media_type',
  message: 'O corpo deve vir sem compressão: retire o cabeçalho Content-Encoding.',
};

const encodedTransfer: Refusal = {
  code: 'unsupported_media_type',
  message: 'O corpo deve vir sem compressão: no cabeçalho Transfer-Encoding só vale chunked.',
};

/** A refusal whose cause is not a field, so the answer has no `param`. */
const invalid = (message: string): Refusal => ({
  code: 'invalid_request',
  message,
  causes: [{ param: '', message }],
});

const notAnObject = invalid('O corpo deve ser um objeto JSON.');
/** As the server calls a request that breaks off. */
const notWhole = invalid('O corpo não chegou inteiro, e a requisição não foi executada. Confira a conexão.');
const tinyChunks = invalid('O corpo vem em pedaços (chunks) pequenos demais. Envie-o inteiro, com Content-Length.');

const refusalOf: Readonly<Record<Exclude<Scanned['kind'], 'text' | 'too_many_digits'>, Refusal>> = {
  malformed,
  not_utf8: {
    code: 'malformed_json',
    message: 'O corpo não está em UTF-8 (talvez em ISO-8859-1 ou Windows-1252). Codifique-o em UTF-8 e envie de novo.',
  },
  too_deep: invalid(`O corpo tem mais de ${MAX_DEPTH} níveis de objetos e listas.`),
  too_much_structure: invalid(
    `O corpo tem mais de ${MAX_STRUCTURE} vírgulas, dois-pontos, chaves e colchetes. Envie só os campos da API.`,
  ),
  too_long: invalid(`O corpo tem mais de ${MAX_TEXT_BYTES / 1024} KiB de conteúdo. Envie só os campos da API.`),
};

const tooManyDigits = (field: string): Refusal => {
  const rule = `um número com mais de ${MAX_DIGITS} algarismos seguidos. Envie os valores em centavos.`;
  if (field === '') return invalid(`O corpo tem ${rule}`);
  const message = `O campo ${field} tem ${rule}`;
  return { code: 'invalid_request', message, param: field, causes: [{ param: field, message }] };
};

const noRoom: Refusal = { code: 'service_unavailable', retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS };
