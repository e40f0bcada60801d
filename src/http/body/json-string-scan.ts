import { isUtf8 } from 'node:buffer';

/** Valid bodies nest at most 3 deep; parsing millions of levels would block the process for seconds. */
export const MAX_DEPTH = 64;

/** Most commas, colons, braces and brackets outside strings. The fullest valid body has about 60. */
export const MAX_STRUCTURE = 2_000;

/** Most bytes for the parser. The longest valid body, fully escaped, needs about 40 KiB. */
export const MAX_TEXT_BYTES = 256 * 1024;

/**
 * Most bytes kept of each string, as sent. The longest field holds 2000 characters of at most 12 bytes each, so a cut string is still too
 * long for every field.
 */
const MAX_STRING_BYTES = 32 * 1024;

/** Most digits in a row. */
export const MAX_DIGITS = 128;

/** Most bytes of a number: at most three rows of digits, with their signs. Anything longer is not JSON. */
export const MAX_SCALAR_BYTES = 512;

/** Scans the strings of a body, one after another, in parts of any size. */
type StringScan = {
  /** Must be called after the opening quote. */
  begin(): void;
  /** Continues at `from`; returns the position after the closing quote, after a fault, or at the end of the chunk. */
  scan(chunk: Uint8Array, from: number): number;
  state(): 'open' | 'closed' | 'faulty';
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** Two escapes of six bytes each. */
const PAIR_BYTES = 12;

/** Bytes that represent themselves inside a string: no quote, no backslash, no control character. */
const PLAIN = Uint8Array.from({ length: 256 }, (_unused, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
const ESCAPED = tableOf('"\\/bfnrtu');
const HEXADECIMAL = tableOf('0123456789abcdefABCDEF');

/** Checks each string to its end and keeps its beginning. */
export const createStringScan = (kept: KeptText): StringScan => {
  let state: 'open' | 'closed' | 'faulty' = 'closed';
  let length = 0;
  let cut = false;
  /** 0 outside an escape, 5 after its backslash, 4 to 1 for the number of hexadecimal digits still missing. */
  let escapeLeft = 0;
  let unit = 0;
  let afterHighHalf = false;

  const keepPlain = (chunk: Uint8Array, from: number): number => {
    const room = from + Math.max(0, MAX_STRING_BYTES - length);
    let at = from;
    while (at < chunk.length && at < room && PLAIN[chunk[at] ?? 0] === 1) at += 1;
    // The last character is kept whole.
    while (at < chunk.length && at >= room && isContinuation(chunk[at] ?? 0)) at += 1;
    cut = at >= room && at < chunk.length && PLAIN[chunk[at] ?? 0] === 1;
    length += at - from;
    kept.putRange(chunk, from, at);
    afterHighHalf &&= at === from;
    return at;
  };

  /** A surrogate pair is never cut in half, which would be another fault than the length. */
  const beginEscape = (): void => {
    cut ||= length >= MAX_STRING_BYTES && !(afterHighHalf && length < MAX_STRING_BYTES + PAIR_BYTES);
    escapeLeft = 5;
    unit = 0;
    keepEscaped(BACKSLASH);
  };

  const keepEscaped = (byte: number): void => {
    if (cut) return;
    length += 1;
    kept.put(byte);
  };

  /** False for a byte that an escape cannot have there. */
  const takeEscapeByte = (byte: number): boolean => {
    if ((escapeLeft === 5 ? ESCAPED : HEXADECIMAL)[byte] !== 1) return false;
    if (escapeLeft === 5) escapeLeft = byte === LETTER_U ? 4 : 0;
    else {
      unit = unit * 16 + Number.parseInt(String.fromCharCode(byte), 16);
      escapeLeft -= 1;
    }
    if (escapeLeft === 0) afterHighHalf = unit >= 0xd800 && unit <= 0xdbff;
    keepEscaped(byte);
    return true;
  };

  /** True when the byte is used up. False for a wrong byte inside an escape of digits, which may be the closing quote. */
  const takeSpecialByte = (byte: number): boolean => {
    if (escapeLeft > 0) {
      if (takeEscapeByte(byte)) return true;
      state = 'faulty';
      return escapeLeft === 5;
    }
    if (byte === QUOTE) state = 'closed';
    else if (byte === BACKSLASH) beginEscape();
    else state = 'faulty';
    return true;
  };

  return {
    begin: () => {
      state = 'open';
      length = 0;
      cut = false;
      afterHighHalf = false;
    },
    scan: (chunk, from) => {
      let at = from;
      while (at < chunk.length && state === 'open') {
        if (escapeLeft === 0) at = cut ? skipChecked(chunk, at) : keepPlain(chunk, at);
        if (at < chunk.length && !(escapeLeft === 0 && PLAIN[chunk[at] ?? 0] === 1) && takeSpecialByte(chunk[at] ?? 0))
          at += 1;
      }
      return at;
    },
    state: () => state,
  };
};

/** Position where plain text and whole escapes end. */
const skipChecked = (chunk: Uint8Array, from: number): number => {
  let at = from;
  while (at < chunk.length) {
    if (PLAIN[chunk[at] ?? 0] === 1) at += 1;
    else {
      const length = escapeLength(chunk, at);
      if (length === 0) return at;
      at += length;
    }
  }
  return at;
};

/** Length of the escape; 0 without a whole escape in this chunk. */
const escapeLength = (chunk: Uint8Array, at: number): number => {
  const letter = chunk[at + 1] ?? 0;
  if (chunk[at] !== BACKSLASH || ESCAPED[letter] !== 1) return 0;
  if (letter !== LETTER_U) return 2;
  for (let digit = at + 2; digit < at + 6; digit += 1) if (HEXADECIMAL[chunk[digit] ?? 0] !== 1) return 0;
  return 6;
};

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}

/** Keeps bytes up to a limit; exceeding the limit drops all of them. */
type KeptText = {
  put(byte: number): void;
  putRange(chunk: Uint8Array, start: number, end: number): void;
  /** Drops the bytes; nothing is kept from here on. */
  drop(): void;
  overflowed(): boolean;
  /** The bytes as text; they must have been checked as UTF-8. */
  text(): string;
};

const FIRST_BYTES = 1024;
const NONE = Buffer.alloc(0);

export const createKeptText = (limitBytes: number): KeptText => {
  let bytes = Buffer.allocUnsafe(FIRST_BYTES);
  let used = 0;
  let dropped = false;
  let overflowed = false;
  const drop = (): void => {
    dropped = true;
    used = 0;
    bytes = NONE;
  };
  const hasRoom = (more: number): boolean => {
    if (dropped) return false;
    if (used + more <= bytes.length) return true;
    if (used + more > limitBytes) {
      overflowed = true;
      drop();
      return false;
    }
    const larger = Buffer.allocUnsafe(Math.min(limitBytes, Math.max(2 * bytes.length, used + more)));
    larger.set(bytes.subarray(0, used));
    bytes = larger;
    return true;
  };
  return {
    put: (byte) => {
      if (!hasRoom(1)) return;
      bytes[used] = byte;
      used += 1;
    },
    putRange: (chunk, start, end) => {
      if (!hasRoom(end - start)) return;
      bytes.set(chunk.subarray(start, end), used);
      used += end - start;
    },
    drop,
    overflowed: () => overflowed,
    text: () => bytes.toString('utf8', 0, used),
  };
};

/** Checks that bytes are UTF-8, wherever their parts are cut. */
type Utf8Check = {
  /** False as soon as the bytes so far cannot begin UTF-8, and from then on. */
  feed(chunk: Uint8Array): boolean;
  /** Whether all bytes are UTF-8 and the last character is complete. */
  end(): boolean;
};

export const createUtf8Check = (): Utf8Check => {
  const begun = new Uint8Array(4);
  let have = 0;
  let need = 0;
  let valid = true;
  /** Completes a character that the previous part began; returns where the next character starts. */
  const complete = (chunk: Uint8Array): number => {
    let from = 0;
    for (; have < need && from < chunk.length; from += 1, have += 1) begun[have] = chunk[from] ?? 0;
    if (have < need) return from;
    valid &&= isUtf8(begun.subarray(0, need));
    have = 0;
    need = 0;
    return from;
  };
  return {
    feed: (chunk) => {
      const from = complete(chunk);
      if (!valid || from === chunk.length) return valid;
      const tail = begunAtEnd(chunk, from);
      const end = chunk.length - tail;
      valid = isUtf8(chunk.subarray(from, end));
      if (tail > 0) {
        begun.set(chunk.subarray(end));
        have = tail;
        need = lengthOf(chunk[end] ?? 0);
      }
      return valid;
    },
    end: () => valid && need === 0,
  };
};

/** Number of bytes at the end that begin a character, 0 to 3. */
const begunAtEnd = (chunk: Uint8Array, from: number): number => {
  for (let back = 1; back <= 3 && chunk.length - back >= from; back += 1) {
    const byte = chunk[chunk.length - back] ?? 0;
    if (!isContinuation(byte)) return lengthOf(byte) > back ? back : 0;
  }
  return 0;
};

const lengthOf = (first: number): number => {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
};

/** True for every byte of a character except the first. */
const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
