/** The nesting of arrays and objects, in bytes that come in parts. Other rules of JSON are not checked. */
type Nesting = {
  /** Starts inside or outside a string, at a given depth. */
  begin(at: { depth: number; deepest: number; inString: boolean }): void;
  scan(chunk: Uint8Array, from: number): void;
  deepest(): number;
  isClosed(): boolean;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** This bit is the only difference between `[` and `{`, and between `]` and `}`. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

export const createNesting = (): Nesting => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  let escaped = false;
  return {
    begin: (at) => {
      ({ depth, deepest, inString } = at);
    },
    scan: (chunk, from) => {
      let [level, most, text, skips] = [depth, deepest, inString, escaped];
      for (let at = from; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        if (text) {
          if (skips) skips = false;
          else if (byte === BACKSLASH) skips = true;
          else if (byte === QUOTE) text = false;
        } else if (byte === QUOTE) text = true;
        else if ((byte | BRACE_BIT) === OPENING) {
          level += 1;
          if (level > most) most = level;
        } else if ((byte | BRACE_BIT) === CLOSING) level -= 1;
      }
      [depth, deepest, inString, escaped] = [level, most, text, skips];
    },
    deepest: () => deepest,
    isClosed: () => depth === 0 && !inString,
  };
};
