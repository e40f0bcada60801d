import { isAuthorizerCode, OTHER_CODE } from '../../domain/common/authorizer-code.js';
import { countsWithin } from '../../lib/counts-within.js';

/**
 * One error item of the authorizer. `code` is missing when the item has none, or a text that cannot be a code; that text then begins `text`.
 * `code` is `OTHER_CODE` when its form is none of the catalogues; `text` begins with it then too, because only texts are sealed.
 */
export type AuthorizerError = { code?: string; text: string };

/** A JSON object with its keys in lower case, because the live servers mix PascalCase and camelCase (docs/national-system.md#error-casing). */
export type JsonBody = { readonly [lowerCaseKey: string]: unknown };

/**
 * Returns the object of a JSON answer. Undefined for problem+json, for HTML even when its text is JSON, for JSON beyond `JSON_BOUNDS` or with a name
 * twice in one object, and for anything else that is not a JSON object.
 */
export const readJson = (contentType: string, body: Buffer): JsonBody | undefined => {
  if (/problem\+json|html/.test(contentType)) return undefined;
  const { exceededLimit, repeats } = countJson(body);
  if (exceededLimit !== undefined || repeats) return undefined;
  try {
    // Unlike `toString`, a decoder drops the byte order mark that some servers write.
    return objectOf(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    return undefined;
  }
};

/** Items of `erros` and `erro`, each an array or one object, in any casing (docs/national-system.md#event-rejection). */
export const errorsOf = (body: JsonBody): readonly AuthorizerError[] =>
  [body.erros, body.erro].flatMap((value) => listOf(value)).map(errorOf);

export const textOf = (body: JsonBody, key: string): string | undefined => {
  const value = body[key.toLowerCase()];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** When the authorizer answered, by its clock, in epoch milliseconds; undefined without a time that can be read. */
export const processedMsOf = (body: JsonBody): number | undefined => {
  const ms = Date.parse(withOffset(textOf(body, 'dataHoraProcessamento') ?? ''));
  return Number.isNaN(ms) ? undefined : ms;
};

/** Stamps without an offset are Brasília time (docs/national-system.md#stamps-without-offset). */
const withOffset = (stamp: string): string => (/(?:Z|[+-]\d{2}:\d{2})$/.test(stamp) ? stamp : `${stamp}-03:00`);

/**
 * The packed event of a type: `eventos[].arquivoXml` of the live look-up, or `eventoXmlGZipB64` as the Swagger promises
 * (docs/national-system.md#event-look-up).
 */
export const packedEventOf = (body: JsonBody, eventType: string): string | undefined => {
  const item = listedEvent(body, eventType);
  return (item === undefined ? undefined : textOf(item, 'arquivoXml')) ?? textOf(body, 'eventoXmlGZipB64');
};

/** Whether an item of `eventos` has this type. */
export const listsEvent = (body: JsonBody, eventType: string): boolean => listedEvent(body, eventType) !== undefined;

const listedEvent = (body: JsonBody, eventType: string): JsonBody | undefined =>
  listOf(body.eventos)
    .map(objectOf)
    .find((entry) => String(entry?.tipoevento) === eventType);

/**
 * Whether the body is a whole list of events, each of a type that cancels nothing. False beside errors, for an item whose type is not one of these
 * numbers, and beside members that the look-up does not have, because the list may then be one page of several.
 */
export const listsOnlyOtherEvents = (body: JsonBody): boolean =>
  Array.isArray(body.eventos) &&
  errorsOf(body).length === 0 &&
  Object.keys(body).every((name) => MEMBERS_OF_A_LIST.has(name)) &&
  body.eventos.every((item) => CANCELS_NOTHING.has(String(objectOf(item)?.tipoevento)));

const MEMBERS_OF_A_LIST: ReadonlySet<string> = new Set([
  'tipoambiente',
  'versaoaplicativo',
  'datahoraprocessamento',
  'chaveacesso',
  'eventos',
  'alertas',
  'erros',
  'erro',
]);

/** Types of events that cancel nothing (docs/national-system.md#event-types). */
const CANCELS_NOTHING: ReadonlySet<string> = new Set([
  '101103',
  '105105',
  '202201',
  '202205',
  '203202',
  '203206',
  '204203',
  '204207',
  '205204',
  '205208',
  '305102',
  '305103',
  '467201',
  '907201',
  '907209',
]);

/** Raw texts are kept for support, cut to this many characters because events of the log must stay small. */
const MAX_TEXT = 1000;

const errorOf = (item: unknown): AuthorizerError => {
  const error = objectOf(item) ?? {};
  const { code, inText } = codeOf(textOf(error, 'codigo')?.trim());
  const words = [inText, textOf(error, 'descricao') ?? textOf(error, 'mensagem'), textOf(error, 'complemento')];
  const text = words
    .filter((part) => part !== undefined)
    .join(' ')
    .slice(0, MAX_TEXT)
    .replace(UNPRINTABLE, ' ');
  return code === undefined ? { text } : { code, text };
};

/** A code is not sealed: it reaches the log, log lines, metrics, terminals and clients. A text with blanks or control characters is no code. */
const codeOf = (said: string | undefined): { code?: string; inText?: string } => {
  if (said === undefined || said === '') return {};
  const inText = said.slice(0, MAX_CODE_IN_TEXT);
  if (!CODE_LIKE.test(said)) return { inText };
  const code = said.toUpperCase();
  return isAuthorizerCode(code) ? { code } : { code: OTHER_CODE, inText };
};

/** Of a long text in place of a code, so that the description still finds room. */
const MAX_CODE_IN_TEXT = 100;

/** Control characters and halves of pairs. Each takes six bytes in an event, and terminals obey some of them. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu;

const CODE_LIKE = /^[\x21-\x7e]{1,20}$/;

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** Undefined for what is not an object. Members that differ only in casing become one list, so that none of them hides another. */
export const objectOf = (value: unknown): JsonBody | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = new Map<string, unknown>();
  const lists = new Map<string, unknown[]>();
  for (const [name, inner] of Object.entries(value)) {
    const key = name.toLowerCase();
    if (!members.has(key)) members.set(key, inner);
    else {
      const list = lists.get(key) ?? [...listOf(members.get(key))];
      for (const one of listOf(inner)) list.push(one);
      lists.set(key, list);
      members.set(key, list);
    }
  }
  return Object.fromEntries(members);
};

/**
 * Bounds of the JSON of an answer. A success has about ten members and a refusal four for each code; the longest answer seen, the special regimes of
 * a municipality, has some hundreds (ADR 31).
 */
export const JSON_BOUNDS = {
  depth: 32,
  /** Colons outside of strings. */
  members: 10_000,
  /** Commas, and brackets that open. */
  values: 20_000,
} as const;

type JsonShape = Record<keyof typeof JSON_BOUNDS, number> & {
  /** Bytes that were scanned, at most the length of the body. */
  bytesRead: number;
  /** Bytes of member names that were decoded, each name once; at most `bytesRead`. */
  named: number;
  exceededLimit: keyof typeof JSON_BOUNDS | undefined;
  /** Whether one object has two members of one name: `JSON.parse` would keep the last and hide the others. */
  repeats: boolean;
};

/**
 * Counts the structure of a JSON text in one pass over its bytes, without building it; stops at the first bound that is exceeded. Does not check that
 * the text is JSON.
 */
export const countJson = (body: Uint8Array): JsonShape => {
  const { counts, raise, exceededLimit } = countsWithin(JSON_BOUNDS);
  /** The names seen so far in each open object; undefined for an open array. */
  const open: (Set<string> | undefined)[] = [];
  let named = 0;
  let repeats = false;
  let inString = false;
  /** The last string, without its quotes. */
  let text = { from: 0, to: 0, escaped: false };
  const quoteFrom = finderOf(body, QUOTE);
  const backslashFrom = finderOf(body, BACKSLASH);
  let at = 0;
  for (; at < body.length && exceededLimit() === undefined; at += 1) {
    if (inString) {
      const [quote, backslash] = [quoteFrom(at), backslashFrom(at)];
      if (backslash < quote) {
        at = backslash + 1;
        text.escaped = true;
      } else {
        inString = false;
        at = quote;
        text.to = at;
      }
      continue;
    }
    const byte = body[at];
    if (byte === QUOTE) {
      inString = true;
      text = { from: at + 1, to: at + 1, escaped: false };
    } else if (byte === COLON) {
      raise('members', counts.members + 1);
      const names = open.at(-1);
      if (names !== undefined) {
        named += text.to - text.from;
        const name = decoded(body.subarray(text.from, text.to), text.escaped);
        repeats ||= names.has(name);
        names.add(name);
      }
    } else if (byte === COMMA) raise('values', counts.values + 1);
    else if (byte === BRACE || byte === BRACKET) {
      open.push(byte === BRACE ? new Set() : undefined);
      raise('depth', open.length);
      raise('values', counts.values + 1);
    } else if (byte === BRACE_END || byte === BRACKET_END) open.pop();
  }
  return { ...counts, bytesRead: Math.min(at, body.length), named, exceededLimit: exceededLimit(), repeats };
};

/** Finds the first such byte at or after a place, or the end; places only grow, so that every byte is looked at once. */
const finderOf = (body: Uint8Array, byte: number): ((from: number) => number) => {
  let found = -1;
  return (from) => {
    if (found < from) found = body.indexOf(byte, from);
    if (found < 0) found = body.length;
    return found;
  };
};

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** A name as `JSON.parse` reads it. */
const decoded = (bytes: Uint8Array, escaped: boolean): string => {
  const text = utf8.decode(bytes);
  if (!escaped) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    // The name is not valid JSON, so the body is not either.
    return text;
  }
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
