import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyHashOf } from '../../../src/app/event-store/hashes.js';
import { createJsonScanner, MAX_TEXT_BYTES, type Scanned } from '../../../src/http/body/json-scanner.js';
import { codePoints } from '../../../src/http/body/text.js';
import { hostileBodies } from './hostile.js';

type Read = { value: unknown } | { refused: Exclude<Scanned['kind'], 'text'> };

/** The reference result: decodes the whole text, counts its nesting, then parses it. */
const readWhole = (bytes: Uint8Array): Read => {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { refused: 'not_utf8' };
  }
  const { deepest, isClosed } = nestingOf(text);
  if (deepest > 64) return { refused: isClosed ? 'too_deep' : 'malformed' };
  return parsed(text);
};

const parsed = (text: string): Read => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { refused: 'malformed' };
  }
};

const nestingOf = (text: string): { deepest: number; isClosed: boolean } => {
  const outside = text.replace(/"(?:[^"\\]|\\[\s\S])*("|\\?$)/g, (string, end) => (end === '"' ? '' : `"${string}`));
  const open = outside.indexOf('"');
  let depth = 0;
  let deepest = 0;
  for (const character of open === -1 ? outside : outside.slice(0, open)) {
    if ('[{'.includes(character)) depth += 1;
    if (']}'.includes(character)) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return { deepest, isClosed: depth === 0 && open === -1 };
};

const readInParts = (bytes: Uint8Array, cuts: readonly number[]): Read => {
  const scanner = createJsonScanner();
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  for (const [index, from] of places.entries()) scanner.feed(bytes.subarray(from, places[index + 1]));
  const scanned = scanner.end();
  return scanned.kind === 'text' ? parsed(scanned.text) : { refused: scanned.kind };
};

const BOUNDS: readonly string[] = ['too_much_structure', 'too_many_digits', 'too_long'];

/** The results are equal, except where a bound refuses more, and for strings that are too long for every field in both. */
const expectAgreement = (bytes: Uint8Array, cuts: readonly number[]): void => {
  const whole = readWhole(bytes);
  const inParts = readInParts(bytes, cuts);
  if ('value' in inParts) {
    expect(whole).toHaveProperty('value');
    if ('value' in whole && !isCutOf(inParts.value, whole.value)) expect(inParts).toStrictEqual(whole);
  } else if (BOUNDS.includes(inParts.refused)) expect(whole).not.toEqual({ refused: 'too_deep' });
  else expect(inParts).toEqual(whole);
};

const isCutOf = (read: unknown, sent: unknown): boolean => {
  if (typeof read === 'string' && typeof sent === 'string')
    return read === sent || (sent.startsWith(read) && codePoints(read) > 2_000 && !endsInHalf(read, sent));
  if (typeof read !== 'object' || read === null || typeof sent !== 'object' || sent === null)
    return Object.is(read, sent);
  const [reads, sents] = [Object.entries(read), Object.entries(sent)];
  return (
    Array.isArray(read) === Array.isArray(sent) &&
    reads.length === sents.length &&
    reads.every(([key, value], index) => isCutOf(key, sents[index]?.[0]) && isCutOf(value, sents[index]?.[1]))
  );
};

/** One half of a surrogate pair that was complete. */
const endsInHalf = (read: string, sent: string): boolean =>
  /[\ud800-\udbff]$/.test(read) && /^[\udc00-\udfff]/.test(sent.slice(read.length));

const cuts = fc.array(fc.nat({ max: 100_000 }), { maxLength: 12 });
const bytesOf = (parts: readonly (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part))));

const TOKENS: readonly (string | readonly number[])[] = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '"',
  '"',
  ' ',
  '\n',
  '\\',
  '\\"',
  '\\n',
  '\\q',
  '\\u',
  '\\u00',
  '\\u0041',
  '\\ud83d',
  '\\ude00',
  'd83d',
  '1',
  '-',
  '0.5',
  '1e5',
  '01',
  'true',
  'null',
  'x',
  'é',
  '😀',
  '\ufeff',
  '\u0001',
  '"k":',
  '"a":1',
  '{"k":"v"}',
  '[1,2]',
  '{}',
  '[]',
  '[['.repeat(20),
  ']]'.repeat(20),
  '9'.repeat(200),
  'x'.repeat(33_000),
  '\\ud83d\\ude00'.repeat(2_740),
  'é'.repeat(16_400),
  '😀'.repeat(8_200),
  'a'.repeat(600),
  JSON.stringify(Array.from({ length: 9 }, () => 'x'.repeat(33_000))),
  [0xff],
  [0xe2, 0x82],
  [0xac],
  [0xf0, 0x9f],
  [0xef, 0xbb, 0xbf],
  [0xef],
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
];

const soup = fc.array(fc.constantFrom(...TOKENS), { maxLength: 24 }).map(bytesOf);

/** JSON with white space of any kind between its tokens, and then perhaps a few bytes that are others. */
const json = fc
  .tuple(
    fc.jsonValue({ maxDepth: 5 }),
    fc.constantFrom(undefined, ' ', '\t', '\n \r', ' '.repeat(10)),
    fc.array(
      fc.tuple(fc.nat({ max: 2_000 }), fc.constantFrom(...Buffer.from('"\\{}[],:u1e- \n\u0001')), fc.boolean()),
      {
        maxLength: 3,
      },
    ),
  )
  .map(([value, space, changes]) => {
    const bytes = [...Buffer.from(JSON.stringify(value, undefined, space))];
    for (const [at, byte, replaces] of changes) bytes.splice(at % (bytes.length + 1), replaces ? 1 : 0, byte);
    return Uint8Array.from(bytes);
  });

describe('a body that is scanned as it comes', () => {
  it('means what the whole means, wherever it is cut', () => {
    fc.assert(fc.property(json, cuts, expectAgreement), { numRuns: 2_000 });
  });

  it('is refused like the whole, whatever the bytes are', () => {
    fc.assert(fc.property(soup, cuts, expectAgreement), { numRuns: 2_000 });
  });

  it('is refused like the whole inside of a body, whatever the bytes are', () => {
    const inside = soup.map((bytes) => Buffer.concat([Buffer.from('{"a":"'), bytes, Buffer.from('"}')]));
    fc.assert(fc.property(inside, cuts, expectAgreement), { numRuns: 2_000 });
  });

  it('has the hash of the whole, which an Idempotency-Key remembers', () => {
    const value = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(value, cuts, (body, places) => {
        const read = readInParts(Buffer.from(JSON.stringify(body, undefined, 2)), places);
        expect('value' in read && bodyHashOf(read.value)).toBe(bodyHashOf(JSON.parse(JSON.stringify(body))));
      }),
    );
  });

  it.each(Object.entries(hostileBodies))('leaves little for the parser: %s', (_what, { make }) => {
    const scanner = createJsonScanner();
    const body = Buffer.from(make());
    for (let from = 0; from < body.length; from += 65_536) scanner.feed(body.subarray(from, from + 65_536));
    const scanned = scanner.end();
    if (scanned.kind === 'text') expect(Buffer.byteLength(scanned.text)).toBeLessThanOrEqual(MAX_TEXT_BYTES);
  });

  it.each(['\\ud83d', '\\ud83d\\ude00', '\\u0041', 'é', '\\n'])(
    'keeps of a long string of %s its beginning only',
    (unit) => {
      const scanner = createJsonScanner();
      scanner.feed(Buffer.from(`{"a":"${unit.repeat(100_000)}"}`));
      const scanned = scanner.end();
      expect(scanned.kind === 'text' && scanned.text.length).toBeLessThan(33_000);
      expect(scanned.kind === 'text' && Buffer.byteLength(scanned.text)).toBeGreaterThan(32_000);
    },
  );

  it('keeps the longest description there is, each of its characters escaped as a pair', () => {
    const longest = `{"description":"${'\\ud83d\\ude00'.repeat(2_000)}"}`;
    expect(readInParts(Buffer.from(longest), [])).toEqual({ value: { description: '😀'.repeat(2_000) } });
  });
});
