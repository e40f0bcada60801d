import { createNesting } from './json-nesting.js';
import {
  createKeptText,
  createStringScan,
  createUtf8Check,
  MAX_DEPTH,
  MAX_DIGITS,
  MAX_SCALAR_BYTES,
  MAX_STRUCTURE,
  MAX_TEXT_BYTES,
} from './json-string-scan.js';

/**
 * `text` is a small equivalent of a body that may be valid: without white space between tokens, and with very long strings cut. The parser
 * decides whether it is JSON.
 */
export type Scanned =
  | { kind: 'text'; text: string }
  | { kind: 'malformed' | 'too_deep' | 'too_much_structure' | 'too_many_digits' | 'too_long' };

export type JsonScanner = {
  /** Takes the next bytes of the body, in one pass. */
  feed(chunk: Uint8Array): void;
  end(): Scanned;
};

const SPACE = 1;
const QUOTE = 2;
const OPENING = 3;
const CLOSING = 4;
const BETWEEN = 5;

/** Meaning of a byte outside strings; 0 is a part of a number or a word. */
const MEANING = new Uint8Array(256);
for (const [meaning, characters] of [
  [SPACE, ' \t\n\r'],
  [QUOTE, '"'],
  [OPENING, '[{'],
  [CLOSING, ']}'],
  [BETWEEN, ',:'],
] as const)
  for (const byte of Buffer.from(characters)) MEANING[byte] = meaning;

const QUOTE_BYTE = 0x22;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * Scans a body while it arrives and keeps only what the parser needs, so that neither memory nor the parser's work grows with the body. After
 * a fault or a bound, only the nesting is followed, which shows whether the body ends properly.
 */
export const createJsonScanner = (): JsonScanner => {
  const utf8 = createUtf8Check();
  const kept = createKeptText(MAX_TEXT_BYTES);
  const string = createStringScan(kept);
  const nesting = createNesting();
  let place: 'outside' | 'string' | 'behind' = 'outside';
  let reason: Exclude<Scanned['kind'], 'text' | 'too_deep'> | undefined;
  let markBytes = 0;
  let depth = 0;
  let deepest = 0;
  let structure = 0;
  /** A string, number or word ended just before, without a separator since. */
  let afterValue = false;
  let scalarBytes = 0;
  let digits = 0;

  const stop = (why: typeof reason, inString = false): void => {
    reason = why;
    place = 'behind';
    kept.drop();
    nesting.begin({ depth, deepest, inString });
  };

  const takeStructure = (byte: number, meaning: number): void => {
    structure += 1;
    afterValue = false;
    scalarBytes = 0;
    if (meaning === OPENING) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (meaning === CLOSING) depth -= 1;
    kept.put(byte);
    if (structure > MAX_STRUCTURE) stop('too_much_structure');
  };

  /** Takes a byte of a number or a word. */
  const takeScalar = (byte: number): void => {
    if (scalarBytes === 0) digits = 0;
    const isSecond = scalarBytes === 0 && afterValue;
    afterValue = true;
    digits = byte >= 0x30 && byte <= 0x39 ? digits + 1 : 0;
    scalarBytes += 1;
    kept.put(byte);
    if (isSecond || scalarBytes > MAX_SCALAR_BYTES) stop('malformed');
    else if (digits > MAX_DIGITS) stop('too_many_digits');
  };

  const scanOutside = (chunk: Uint8Array, from: number): number => {
    let at = from;
    while (at < chunk.length && place === 'outside') {
      const byte = chunk[at] ?? 0;
      const meaning = MEANING[byte] ?? 0;
      if (meaning === QUOTE && afterValue) {
        stop('malformed');
        return at;
      }
      at += 1;
      if (meaning === SPACE) {
        scalarBytes = 0;
        while (at < chunk.length && MEANING[chunk[at] ?? 0] === SPACE) at += 1;
      } else if (meaning === 0) takeScalar(byte);
      else if (meaning === QUOTE) beginString();
      else takeStructure(byte, meaning);
    }
    return at;
  };

  const beginString = (): void => {
    kept.put(QUOTE_BYTE);
    place = 'string';
    string.begin();
  };

  const scanString = (chunk: Uint8Array, from: number): number => {
    const at = string.scan(chunk, from);
    if (string.state() === 'faulty') stop('malformed', true);
    else if (string.state() === 'closed') {
      kept.put(QUOTE_BYTE);
      place = 'outside';
      afterValue = true;
      scalarBytes = 0;
      if (kept.overflowed()) stop('too_long');
    }
    return at;
  };

  /** Skips a byte order mark. An incomplete mark is malformed JSON. */
  const skipMark = (chunk: Uint8Array): number => {
    let at = 0;
    while (markBytes < 3 && at < chunk.length && chunk[at] === BYTE_ORDER_MARK[markBytes]) {
      at += 1;
      markBytes += 1;
    }
    if (at < chunk.length && markBytes < 3) {
      if (markBytes > 0) stop('malformed');
      markBytes = 3;
    }
    return at;
  };

  return {
    feed: (chunk) => {
      if (!utf8.feed(chunk)) return kept.drop();
      let at = skipMark(chunk);
      while (at < chunk.length && place !== 'behind')
        at = place === 'string' ? scanString(chunk, at) : scanOutside(chunk, at);
      if (at < chunk.length) nesting.scan(chunk, at);
    },
    end: () => {
      if (!utf8.end()) return { kind: 'malformed' };
      if (reason !== undefined) {
        if (!nesting.isClosed()) return { kind: 'malformed' };
        return { kind: nesting.deepest() > MAX_DEPTH ? 'too_deep' : reason };
      }
      if (place === 'string' || depth !== 0) return { kind: 'malformed' };
      if (deepest > MAX_DEPTH) return { kind: 'too_deep' };
      return kept.overflowed() ? { kind: 'too_long' } : { kind: 'text', text: kept.text() };
    },
  };
};
