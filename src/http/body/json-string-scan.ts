import { MAX_STRING_BYTES } from './json-bounds.js';
import type { KeptText } from './kept-text.js';
import { isContinuation } from './utf8-check.js';

/** One string of a body after another, in whatever parts its bytes come. */
export type StringScan = {
  /** To be called behind the opening quote. */
  begin(): void;
  /** Goes on at `from`; answers where it stopped: behind the closing quote, behind a fault, or at the end of the chunk. */
  scan(chunk: Uint8Array, from: number): number;
  state(): 'open' | 'closed' | 'faulty';
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** Two escapes of six bytes. */
const PAIR_BYTES = 12;

/** Bytes that stand for themselves inside a string: no quote, no backslash, no control character. */
const PLAIN = Uint8Array.from({ length: 256 }, (_unused, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
const ESCAPED = tableOf('"\\/bfnrtu');
const HEXADECIMAL = tableOf('0123456789abcdefABCDEF');

/** Checks all of each string and keeps its beginning. */
export const createStringScan = (kept: KeptText): StringScan => {
  let state: 'open' | 'closed' | 'faulty' = 'closed';
  let length = 0;
  let cut = false;
  /** 0 outside of an escape, 5 behind its backslash, 4 to 1 for the hexadecimal digits that are still to come. */
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

  /** No pair is cut into halves, which would be another fault than the length. */
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

  /** False for a byte that cannot stand there. */
  const goOnEscape = (byte: number): boolean => {
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

  /** `step` behind this byte, or where the fault is: a digit that is missing may be the closing quote. */
  const special = (byte: number): boolean => {
    if (escapeLeft > 0) {
      if (goOnEscape(byte)) return true;
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
        if (at < chunk.length && !(escapeLeft === 0 && PLAIN[chunk[at] ?? 0] === 1) && special(chunk[at] ?? 0)) at += 1;
      }
      return at;
    },
    state: () => state,
  };
};

/** Where plain text and whole escapes end. */
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

/** 0 for what is no whole escape within this chunk. */
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
