import { countsWithin } from '../../lib/counts-within.js';

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
