/** Valid bodies nest at most 3 deep; parsing millions of levels would block the process for seconds. */
export const MAX_DEPTH = 64;

/** Most commas, colons, braces and brackets outside strings. The fullest valid body has about 60. */
export const MAX_STRUCTURE = 2_000;

/** Most bytes for the parser. The longest valid body, fully escaped, needs about 40 KiB. */
export const MAX_TEXT_BYTES = 256 * 1024;

/**
 * Most bytes kept of each string, as sent. The longest field holds 2000 characters of at most 12 bytes each, so a cut string is still too
 * long for every text and is no code of a table.
 */
const MAX_STRING_BYTES = 32 * 1024;

/** Most digits in a row. */
export const MAX_DIGITS = 128;

/** Most characters of a number: at most three rows of digits, with their signs. Anything longer is not JSON. */
const MAX_SCALAR = 512;

/**
 * `text` is a small equivalent of a body that may be valid: without white space between tokens, and with very long strings cut. The parser
 * decides whether it is JSON.
 */
export type Scanned =
  | { kind: 'text'; text: string }
  | { kind: 'malformed' | 'not_utf8' | 'too_deep' | 'too_much_structure' | 'too_long' }
  /** `field`: the name before the number, in the outermost object; empty elsewhere. */
  | { kind: 'too_many_digits'; field: string };

export type JsonScanner = {
  /** Takes the next bytes of the body, in one pass. */
  feed(chunk: Uint8Array): void;
  end(): Scanned;
};

/** Half of a character beyond U+FFFF, as an escape. */
const HIGH_HALF = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}`;
const LOW_HALF = String.raw`\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
const ESCAPE = String.raw`\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})`;
/** What may be the beginning of an escape, at the end of a text. */
const UNFINISHED = String.raw`(?:\\(?:u[0-9a-fA-F]{0,3})?)?$`;

// Each of these expressions matches at `lastIndex` only.
/** Characters that represent themselves inside a string, and whole escapes: a pair of halves is never separated. */
const STRING_PART = new RegExp(
  String.raw`(?:[^"\\\u0000-\u001f]+|${HIGH_HALF}${LOW_HALF}|(?!${HIGH_HALF}${UNFINISHED})${ESCAPE})*`,
  'y',
);
const BEGUN_ESCAPE = new RegExp(`(?:${HIGH_HALF})?${UNFINISHED}`, 'y');
const SPACE = /[ \t\n\r]+/y;
/** A number or a word. */
const SCALAR = /[^ \t\n\r"[\]{},:]+/y;

const TOO_MANY_DIGITS = new RegExp(`[0-9]{${MAX_DIGITS + 1}}`);

const matchAt = (expression: RegExp, text: string, at: number): string => {
  expression.lastIndex = at;
  return expression.exec(text)?.[0] ?? '';
};

const encoder = new TextEncoder();
const scratch = new Uint8Array(MAX_STRING_BYTES);

/** At most `bytes` bytes of a part of a string, in whole characters and escapes. */
const beginningOf = (part: string, bytes: number): string => {
  const { read } = encoder.encodeInto(part, scratch.subarray(0, bytes));
  return matchAt(STRING_PART, part.slice(0, read), 0);
};

/** A body of at most this many bytes has too few for most of the bounds. */
const SMALL_BYTES = MAX_STRUCTURE;

/** The text of a small body that no bound can refuse, as the usual body is; undefined for any other, which is scanned. */
const smallText = (bytes: Uint8Array): string | undefined => {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return undefined;
  }
  let opened = 0;
  for (let at = 0; at < text.length; at += 1) if (text[at] === '{' || text[at] === '[') opened += 1;
  return opened > MAX_DEPTH || TOO_MANY_DIGITS.test(text) ? undefined : text;
};

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The name of a field at the end of what was kept, if the name has the letters of our fields. */
const lastName = (kept: Buffer): string =>
  /[{,]"([a-z_]{1,64})":$/.exec(kept.subarray(-70).toString('latin1'))?.[1] ?? '';

const FIRST_BYTES = 1024;
const NONE = Buffer.alloc(0);

/**
 * Scans a body while it arrives and keeps only what the parser needs, so that neither memory nor the parser's work grows with the body. After
 * a fault or a bound, only the nesting is followed, which shows whether the body ends properly.
 */
export const createJsonScanner = (): JsonScanner => {
  let decoder: TextDecoder | undefined;
  /** The first chunk, as long as it may be the whole of a small body. */
  let held: Uint8Array | undefined;
  let isUtf8 = true;
  let fault: Exclude<Scanned['kind'], 'text' | 'too_deep'> | undefined;
  /** Only after `too_many_digits`. */
  let field = '';
  let kept = NONE;
  /** Bytes to keep; beyond the limit they are only counted. */
  let keptBytes = 0;
  let depth = 0;
  let deepest = 0;
  let structure = 0;
  let inString = false;
  let stringBytes = 0;
  /** A string, number or word ended just before, without a separator since. */
  let afterValue = false;
  /** The number, word or escape that the last chunk began. */
  let begun = '';
  /** Only after a fault: the last character was a backslash in a string. */
  let escaped = false;

  const keep = (text: string): void => {
    const end = keptBytes + Buffer.byteLength(text);
    if (end > kept.length && end <= MAX_TEXT_BYTES)
      kept = Buffer.concat([kept], Math.min(MAX_TEXT_BYTES, Math.max(2 * kept.length, FIRST_BYTES, end)));
    if (end <= MAX_TEXT_BYTES) kept.write(text, keptBytes);
    keptBytes = end;
  };

  const stop = (why: typeof fault): void => {
    fault = why;
    if (why === 'too_many_digits' && depth === 1) field = lastName(kept.subarray(0, keptBytes));
    kept = NONE;
  };

  /** Takes a part of a string; like the functions below it returns the position after what it took. */
  const takeString = (text: string, from: number): number => {
    const part = matchAt(STRING_PART, text, from);
    const room = MAX_STRING_BYTES - stringBytes;
    stringBytes += Buffer.byteLength(part);
    if (room > 0) keep(stringBytes <= MAX_STRING_BYTES ? part : beginningOf(part, room));
    const at = from + part.length;
    if (text[at] !== '"') {
      begun = matchAt(BEGUN_ESCAPE, text, at);
      if (at + begun.length < text.length) stop('malformed');
      return at + begun.length;
    }
    keep('"');
    inString = false;
    afterValue = true;
    if (keptBytes > MAX_TEXT_BYTES) stop('too_long');
    return at + 1;
  };

  const takeToken = (text: string, from: number): number => {
    const at = from + matchAt(SPACE, text, from).length;
    const character = text[at];
    if (character === undefined) return at;
    if ('{}[],:'.includes(character)) takeStructure(character);
    else if (character !== '"') return takeScalar(text, at);
    else if (afterValue) {
      stop('malformed');
      return at;
    } else {
      keep('"');
      inString = true;
      stringBytes = 0;
    }
    return at + 1;
  };

  const takeStructure = (character: string): void => {
    structure += 1;
    afterValue = false;
    countDepth(character);
    keep(character);
    if (structure > MAX_STRUCTURE) stop('too_much_structure');
  };

  const countDepth = (character: string): void => {
    if (character === '{' || character === '[') {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (character === '}' || character === ']') depth -= 1;
  };

  const takeScalar = (text: string, from: number): number => {
    const scalar = matchAt(SCALAR, text, from);
    const at = from + scalar.length;
    if (afterValue) stop('malformed');
    else if (TOO_MANY_DIGITS.test(scalar.slice(0, MAX_SCALAR))) stop('too_many_digits');
    else if (scalar.length > MAX_SCALAR) stop('malformed');
    else if (at === text.length) begun = scalar;
    else {
      keep(scalar);
      afterValue = true;
    }
    return at;
  };

  const followNesting = (text: string, from: number): void => {
    for (let at = from; at < text.length; at += 1) {
      const character = text[at] ?? '';
      if (escaped) escaped = false;
      else if (character === '"') inString = !inString;
      else if (inString) escaped = character === '\\';
      else countDepth(character);
    }
  };

  const scan = (more: string): void => {
    const text = begun + more;
    begun = '';
    let at = 0;
    while (at < text.length && fault === undefined) at = inString ? takeString(text, at) : takeToken(text, at);
    if (fault !== undefined) followNesting(text, at);
  };

  /** Undefined for bytes that are not UTF-8, and from then on. */
  const decode = (chunk?: Uint8Array): string | undefined => {
    decoder ??= new TextDecoder('utf-8', { fatal: true });
    try {
      return isUtf8 ? decoder.decode(chunk, { stream: chunk !== undefined }) : undefined;
    } catch {
      isUtf8 = false;
      kept = NONE;
      return undefined;
    }
  };

  const scanHeld = (): void => {
    if (held === undefined) return;
    const first = held;
    held = undefined;
    scan(decode(first) ?? '');
  };

  return {
    feed: (chunk) => {
      if (decoder === undefined && held === undefined && chunk.length <= SMALL_BYTES) {
        held = chunk;
        return;
      }
      scanHeld();
      scan(decode(chunk) ?? '');
    },
    end: () => {
      const small = held === undefined ? undefined : smallText(held);
      if (small !== undefined) return { kind: 'text', text: small };
      scanHeld();
      if (decode() === undefined) return { kind: 'not_utf8' };
      if (inString || depth !== 0) return { kind: 'malformed' };
      if (deepest > MAX_DEPTH) return { kind: 'too_deep' };
      if (fault === 'too_many_digits') return { kind: fault, field };
      if (fault !== undefined) return { kind: fault };
      keep(begun);
      return keptBytes > MAX_TEXT_BYTES
        ? { kind: 'too_long' }
        : { kind: 'text', text: kept.toString('utf8', 0, keptBytes) };
    },
  };
};
