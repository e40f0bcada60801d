import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSealed, openField, sealedWith, sealField } from '../../../src/app/event-store/sealing.js';
import type { Json } from '../../../src/ports/event-log.js';

const place = {
  stream: 'nfseLive-12345678000195_a',
  eventId: '11111111-1111-8111-a111-111111111111',
  field: 'customer',
};
const key = { generation: 'm1', key: Buffer.alloc(32, 1) };

describe('sealing', () => {
  it('gives back every value that an event can hold', () => {
    const values = fc.jsonValue().filter((value) => value !== null) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(values, (value) => {
        expect(openField(sealField(value, place, key), place, key.key)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('says which key and event it belongs to, and nothing of its content', () => {
    const text = sealField('Fulano de Tal', place, key);
    expect(isSealed(text)).toBe(true);
    expect(sealedWith(text)).toEqual({ generation: 'm1', eventId: place.eventId });
    expect(text).not.toContain('Fulano');
  });

  it('never seals twice to the same text', () => {
    expect(sealField('a', place, key)).not.toBe(sealField('a', place, key));
  });

  it('never uses an initialization vector twice, and opens what many fields later share the stock with', () => {
    const texts = Array.from({ length: 2_000 }, (_, index) => sealField(index, place, key));
    const vectors = texts.map((text) => text.slice(text.indexOf(place.eventId)).split(':')[1] ?? '');
    expect(new Set(vectors).size).toBe(texts.length);
    for (const vector of vectors) expect(Buffer.from(vector, 'base64url')).toHaveLength(12);
    expect(texts.map((text) => openField(text, place, key.key))).toEqual(texts.map((_, index) => index));
  });

  it('refuses text that was changed anywhere behind the key generation', () => {
    const text = sealField({ name: 'Fulano' }, place, key);
    const start = text.indexOf(place.eventId);
    for (let index = start; index < text.length; index += 1) {
      const other = text[index] === 'A' ? 'B' : 'A';
      // The last character of base64 may hold bits that no byte uses.
      if (index === text.length - 1) continue;
      const changed = `${text.slice(0, index)}${other}${text.slice(index + 1)}`;
      expect(() => openField(changed, place, key.key)).toThrow();
    }
  });

  it.each([
    ['another stream', { ...place, stream: 'nfseLive-12345678000195_b' }],
    ['another event', { ...place, eventId: '22222222-2222-8222-a222-222222222222' }],
    ['another field', { ...place, field: 'description' }],
  ])('refuses to open on %s', (_where, elsewhere) => {
    expect(() => openField(sealField('a', place, key), elsewhere, key.key)).toThrow();
  });

  it('refuses another key', () => {
    expect(() => openField(sealField('a', place, key), place, Buffer.alloc(32, 2))).toThrow();
  });
});
