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
};

/**
 * Counts the structure of a JSON text without building it, in one pass over the bytes; stops at the first bound that is passed.
 * Says nothing about whether the text is JSON.
 */
export const countJson = (body: Uint8Array): JsonCounts & { exceeds: keyof typeof JSON_BOUNDS | undefined } => {
  const counts: JsonCounts = { depth: 0, members: 0, values: 0, looked: 0 };
  let exceeds: keyof typeof JSON_BOUNDS | undefined;
  let open = 0;
  let inString = false;
  let at = 0;
  for (; at < body.length && exceeds === undefined; at += 1) {
    const byte = body[at];
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
      continue;
    }
    if (byte === QUOTE) inString = true;
    else if (byte === COLON) counts.members += 1;
    else if (byte === COMMA) counts.values += 1;
    else if (byte === BRACE || byte === BRACKET) {
      counts.values += 1;
      open += 1;
      if (open > counts.depth) counts.depth = open;
    } else if (byte === BRACE_END || byte === BRACKET_END) open -= 1;
    else continue;
    if (counts.depth > JSON_BOUNDS.depth) exceeds = 'depth';
    else if (counts.members > JSON_BOUNDS.members) exceeds = 'members';
    else if (counts.values > JSON_BOUNDS.values) exceeds = 'values';
  }
  return { ...counts, looked: Math.min(at, body.length), exceeds };
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
