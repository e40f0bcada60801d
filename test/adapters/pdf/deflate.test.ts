import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflate } from '../../../src/adapters/pdf/deflate.js';
import { FONT_FILES } from '../../../src/adapters/pdf/fonts.js';

describe('the compression', () => {
  it('gives back every input', () => {
    const anyBytes = fc.uint8Array({ maxLength: 2_000 });
    const repeated = fc
      .tuple(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 1 }),
        fc.array(fc.nat(), { maxLength: 400 }),
      )
      .map(([parts, order]) =>
        Buffer.concat(order.map((which) => parts[which % parts.length] ?? parts[0] ?? Buffer.alloc(0))),
      );
    fc.assert(
      fc.property(fc.oneof(anyBytes, repeated), (input) => {
        expect(inflateSync(deflate(input)).equals(input)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['nothing', 0],
    ['one byte', 1],
    ['a run of exactly the longest match and one more', 259],
    ['a long run', 100_000],
  ])('gives back %s', (_name, length) => {
    const input = Buffer.alloc(length, 'a');
    expect(inflateSync(deflate(input)).equals(input)).toBe(true);
  });

  it('gives back what repeats itself over all distances, also those beyond its window', () => {
    for (const distance of [1, 2, 4, 5, 257, 4_097, 32_767, 32_768, 32_769, 40_000]) {
      const input = Buffer.alloc(distance + 300);
      for (let at = 0; at < distance; at += 1) input[at] = (Math.imul(at, 2_654_435_761) >>> 16) & 0xff;
      input.copy(input, distance, 0, 300);
      expect(inflateSync(deflate(input)).equals(input)).toBe(true);
    }
  });

  it('makes a font a good deal smaller, into the same bytes for ever', () => {
    const font = readFileSync(FONT_FILES.normal);
    const small = deflate(font);
    expect(inflateSync(small).equals(font)).toBe(true);
    expect(small.length).toBeLessThan(0.75 * font.length);
    expect(createHash('sha256').update(small).digest('hex')).toBe(
      '815b61d95c2be4febbdcbe3ed7f2cbdbac1096ee6ccdcd7b54b7287fbfc42c54',
    );
  });
});
