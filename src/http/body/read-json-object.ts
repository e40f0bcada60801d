import { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import { UNAVAILABLE_RETRY_SECONDS } from '../faults.js';
import { createFramingCheck, type FramingCheck } from '../unread-body.js';
import { createJsonScanner, type JsonScanner, type Scanned } from './json-scanner.js';
import { MAX_DEPTH, MAX_DIGITS, MAX_STRUCTURE, MAX_TEXT_BYTES } from './json-string-scan.js';

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

/** Reads the body. Refusals in this order: 415 (type, compression), 413, 503 (memory), 400 `malformed_json`, 400 `invalid_request`. */
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

/** JSON is always UTF-8, so parameters have no meaning. A comma would mean several types. */
const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;[^,]*)?$/i;

/** Unpacking would admit a compression bomb. Read packed, the body would be called malformed, which does not help a client. */
const isEncoded = (c: Context): boolean =>
  !/^(?:identity)?$/i.test(c.req.header('content-encoding') ?? '') ||
  !/^(?:chunked)?$/i.test(c.req.header('transfer-encoding') ?? '');

type Unread = 'too_large' | 'no_room' | 'tiny_chunks' | 'aborted';

/** A declared length only refuses early, or counts where the server's parser enforces it; without one, bytes are counted. */
const readInto = async (scan: BodyScan, c: Context, share: BodyShare): Promise<Unread | undefined> => {
  const declared = c.req.header('content-length');
  const length = declared === undefined ? 0 : Number(declared);
  const refused = coverOf(length, share);
  if (refused !== undefined) return refused;
  const isFramed = declared !== undefined && c.req.header('transfer-encoding') === undefined;
  // A body that the server reads in one piece stays in memory until the answer is out, longer than the share is held.
  if (!isFramed || length > FREE_BYTES)
    return await readCounting(scan, chunksOf(c), share, isFramed ? undefined : framingCheckOf(c));
  const bytes = await c.req.raw.arrayBuffer().catch(clientGone);
  if (bytes === 'aborted') return bytes;
  await scan.take(new Uint8Array(bytes));
  return undefined;
};

/** The client is gone: no answer reaches it, and there is no fault of ours. */
const clientGone = (): 'aborted' => 'aborted';

const coverOf = (size: number, share: BodyShare): Unread | undefined => {
  if (size > MAX_BODY_BYTES) return 'too_large';
  return share.cover(size) ? undefined : 'no_room';
};

type Chunks = AsyncIterator<Uint8Array>;

/**
 * Chunks from the connection itself, where there is one. A web stream over the connection would take in all that arrives, however slowly it is
 * read, and would not hold the client back.
 */
const chunksOf = (c: Context): Chunks | undefined => {
  const { incoming }: Partial<HttpBindings> = c.env ?? {};
  return incoming === undefined ? c.req.raw.body?.values() : incoming.iterator({ destroyOnReturn: false });
};

const framingCheckOf = (c: Context): FramingCheck | undefined => {
  const { incoming }: Partial<HttpBindings> = c.env ?? {};
  return incoming instanceof IncomingMessage ? createFramingCheck(incoming) : undefined;
};

/** Reads to the end or to the limit, whatever the bytes hold: a body that is too large is refused for its size first. */
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

/** A refusal whose cause is not a field, so the answer has no `param`. */
const invalid = (message: string): Refusal => ({
  code: 'invalid_request',
  message,
  causes: [{ param: '', message }],
});

const noRoom: Refusal = { code: 'service_unavailable', retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS };

/** Less than half a millisecond of work; twenty times that until the code is compiled. */
const BYTES_PER_TURN = 32 * 1024;

/** Shares a turn of the event loop among all bodies being scanned, so that many bodies block no longer than one. */
type ScanTurns = {
  /** Undefined when there is room at once; otherwise resolves in a turn with room. */
  take(bytes: number): Promise<void> | undefined;
};

export const createScanTurns = (
  bytesPerTurn: number = BYTES_PER_TURN,
  turn: () => Promise<unknown> = () => nextTurn(),
): ScanTurns => {
  let taken = 0;
  /** A slice larger than a turn gets a whole turn. */
  const takes = (bytes: number): boolean => {
    if (taken > 0 && taken + bytes > bytesPerTurn) return false;
    if (taken === 0)
      void turn().then(() => {
        taken = 0;
      });
    taken += bytes;
    return true;
  };
  const wait = async (bytes: number): Promise<void> => {
    do await turn();
    while (!takes(bytes));
  };
  return { take: (bytes) => (takes(bytes) ? undefined : wait(bytes)) };
};

/** Most bytes scanned in one go. */
export const SLICE_BYTES = 16 * 1024;

type BodyScan = {
  /** Takes the next bytes. Undefined when they were scanned at once; otherwise the caller must wait for the result. */
  take(chunk: Uint8Array): Promise<void> | undefined;
  end(): Scanned;
};

/** Shared by the whole process, like the event loop. */
const processTurns = createScanTurns();

/** Scans a body slice by slice, each slice in a turn of the event loop that has room for it. */
export const createBodyScan = (
  turns: ScanTurns = processTurns,
  scanner: JsonScanner = createJsonScanner(),
): BodyScan => {
  const bySlices = async (chunk: Uint8Array): Promise<void> => {
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
      const slice = chunk.subarray(from, from + SLICE_BYTES);
      await turns.take(slice.length);
      scanner.feed(slice);
    }
  };
  return {
    take: (chunk) => {
      if (chunk.length > SLICE_BYTES) return bySlices(chunk);
      const turn = turns.take(chunk.length);
      if (turn !== undefined) return turn.then(() => scanner.feed(chunk));
      scanner.feed(chunk);
      return undefined;
    },
    end: scanner.end,
  };
};
