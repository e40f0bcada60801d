/**
 * What the JSON of an answer may hold. A success has some ten members and a refusal four for each code; the longest answer seen,
 * a municipality's special regimes, has some hundreds.
 */
export const JSON_BOUNDS = {
  depth: 32,
  /** Colons outside of strings. */
  members: 10_000,
  /** Commas, and brackets that open. */
  values: 20_000,
} as const;

export type JsonCounts = Record<keyof typeof JSON_BOUNDS, number> & {
  /** Bytes looked at: never more than the body has. */
  looked: number;
  /** Bytes of member names that were decoded, each name once: never more than `looked`. */
  named: number;
};

export type JsonShape = JsonCounts & {
  exceeds: keyof typeof JSON_BOUNDS | undefined;
  /** Whether one object has two members of one name: `JSON.parse` would keep the last of them and hide the others. */
  repeats: boolean;
};

/**
 * Counts the structure of a JSON text without building it, in one pass over the bytes; stops at the first bound that is passed.
 * Says nothing about whether the text is JSON.
 */
export const countJson = (body: Uint8Array): JsonShape => {
  const counts: JsonCounts = { depth: 0, members: 0, values: 0, looked: 0, named: 0 };
  /** The names so far of each object that is open; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let exceeds: keyof typeof JSON_BOUNDS | undefined;
  let repeats = false;
  let inString = false;
  /** The last string, without its quotes. */
  let text = { from: 0, to: 0, escaped: false };
  let at = 0;
  for (; at < body.length && exceeds === undefined; at += 1) {
    const byte = body[at];
    if (inString) {
      if (byte === BACKSLASH) {
        at += 1;
        text.escaped = true;
      } else if (byte === QUOTE) {
        inString = false;
        text.to = at;
      }
      continue;
    }
    if (byte === QUOTE) {
      inString = true;
      text = { from: at + 1, to: at + 1, escaped: false };
    } else if (byte === COLON) {
      counts.members += 1;
      const names = open.at(-1);
      if (names !== undefined) {
        counts.named += text.to - text.from;
        const name = decoded(body.subarray(text.from, text.to), text.escaped);
        repeats ||= names.has(name);
        names.add(name);
      }
    } else if (byte === COMMA) counts.values += 1;
    else if (byte === BRACE || byte === BRACKET) {
      counts.values += 1;
      open.push(byte === BRACE ? new Set() : undefined);
      if (open.length > counts.depth) counts.depth = open.length;
    } else if (byte === BRACE_END || byte === BRACKET_END) open.pop();
    else continue;
    if (counts.depth > JSON_BOUNDS.depth) exceeds = 'depth';
    else if (counts.members > JSON_BOUNDS.members) exceeds = 'members';
    else if (counts.values > JSON_BOUNDS.values) exceeds = 'values';
  }
  return { ...counts, looked: Math.min(at, body.length), exceeds, repeats };
};

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** A name as `JSON.parse` reads it. */
const decoded = (bytes: Uint8Array, escaped: boolean): string => {
  const text = utf8.decode(bytes);
  if (!escaped) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    // No JSON then, and neither is the body around the name.
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
