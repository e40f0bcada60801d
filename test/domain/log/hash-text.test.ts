import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashText, hashTextIfAny, NotCanonical, sortedJson, TooDeep } from '../../../src/domain/log/hash-text.js';
import { contentOf, fromRecord, hashTextOfRecord, parseRecord, toRecord } from '../../../src/domain/log/record.js';

const id = '0b6a1c52-7a3e-4e1f-9d7c-2f0b1a4c5d6e';
const event = {
  id,
  type: 'Happened',
  data: { b: 1, a: ['ç', true] },
  metadata: { prevHash: 'p', hash: 'h', actor: 'x' },
};

const key = fc.string({ unit: 'grapheme', maxLength: 6 }).filter((text) => !/^\d+$/.test(text));
const { value: canonical } = fc.letrec((tie) => ({
  value: fc.oneof(fc.string(), fc.boolean(), fc.maxSafeInteger(), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

describe('hashText', () => {
  it('is one array of all parts of an event, hash left out and prevHash kept among the pairs', () => {
    expect(hashText('s-1', 3, event)).toBe(
      `[1,"p","s-1",3,"${id}","Happened",[["actor","x"],["prevHash","p"]],{"a":["ç",true],"b":1}]`,
    );
  });

  it('has an empty previous hash for the first event', () => {
    expect(hashText('s-1', 0, { ...event, metadata: {} })).toMatch(/^\[1,"",/);
  });

  it('does not depend on the order in which keys were written', () => {
    fc.assert(
      fc.property(fc.dictionary(key, canonical, { noNullPrototype: true }), (data) => {
        const reversed = Object.fromEntries(Object.entries(data).reverse());
        return sortedJson(data) === sortedJson(reversed);
      }),
    );
  });

  it.each([
    [null],
    [undefined],
    [1.5],
    [Number.NaN],
    [2 ** 53],
    [1n],
    [new Date(0)],
    [{ a: undefined }],
    [{ 1: 'a' }],
    [new Array(1)],
    [() => 'x'],
  ])('refuses %o', (value) => {
    expect(() => sortedJson(value)).toThrow(NotCanonical);
    expect(() => sortedJson({ deep: [value] })).toThrow(NotCanonical);
  });

  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

  it('takes 64 levels, and no more', () => {
    expect(sortedJson(nested(64))).toHaveLength(128);
    expect(sortedJson({ b: nested(63), a: 1 })).toMatch(/^{"a":1,"b":\[/);
    expect(() => sortedJson(nested(65))).toThrow(TooDeep);
    expect(() => sortedJson({ b: nested(64), a: 1 })).toThrow(TooDeep);
  });

  it.each([
    ['alone', () => ({ a: nested(100_000) })],
    ['behind another fault', () => ({ a: null, b: nested(100_000) })],
    ['behind a key out of order', () => ({ b: 1, a: { a: 1, b: [nested(100_000)] } })],
  ])('refuses 100,000 levels %s', (_what, data) => {
    expect(() => hashText('s-1', 0, { ...event, data: data() })).toThrow(TooDeep);
    expect(() => hashTextIfAny('s-1', 0, { ...event, data: data() })).toThrow(TooDeep);
  });
});

describe('a record', () => {
  it('gives back the event exactly, and the same text again', () => {
    fc.assert(
      fc.property(fc.dictionary(key, canonical, { noNullPrototype: true }), fc.nat(), (data, revision) => {
        const stored = toRecord('s-1', revision, { ...event, data });
        const read = fromRecord(stored);
        expect(hashText('s-1', revision, read)).toBe(stored.record);
        expect(read).toEqual({ ...event, data: JSON.parse(JSON.stringify(data)), stream: 's-1', revision });
      }),
    );
  });

  it('refuses what an engine could not store unchanged', () => {
    const { hash: _hash, ...unhashed } = event.metadata;
    expect(() => toRecord('s-1', 0, { ...event, metadata: unhashed })).toThrow(NotCanonical);
    expect(() => toRecord('s-1', 0, { ...event, id: 'x' })).toThrow(NotCanonical);
    expect(() => toRecord('s\0', 0, event)).toThrow(NotCanonical);
    expect(() => toRecord('s\ud800', 0, event)).toThrow(NotCanonical);
  });
});

describe('a record in another spelling', () => {
  const RECORD = hashText('s-1', 3, { ...event, data: { a: { Z: 'x', z: 'ç' }, b: [1, { c: 2, d: 3 }], e: -12 } });
  const textOf = (record: string): string | undefined => {
    const { stream, revision, ...read } = fromRecord({ record, hash: 'h' });
    return hashTextIfAny(stream, revision, read);
  };

  it('differs from the hash text of the event that is read from it', () => {
    expect(textOf(RECORD)).toBe(RECORD);
  });

  it.each([
    ['white space', RECORD.replace(',"Happened"', ', "Happened"')],
    ['keys in another order', RECORD.replace('"b":[1,{"c":2,"d":3}],"e":-12', '"e":-12,"b":[1,{"c":2,"d":3}]')],
    ['keys within a list in another order', RECORD.replace('"c":2,"d":3', '"d":3,"c":2')],
    ['a key twice', RECORD.replace('"e":-12', '"e":1,"e":-12')],
    ['metadata in another order', RECORD.replace(/\[\["actor".*?\]\]/, '[["prevHash","p"],["actor","x"]]')],
    ['another hash before it', RECORD.replace('[1,"p"', '[1,"q"')],
    ['a number in another form', RECORD.replace('-12', '-12.0')],
    ['a number in another form and a key that makes up for it', RECORD.replace('"e":-12', '"e": -1.2e1')],
    ['a fraction', RECORD.replace('-12', '1.5')],
    ['null', RECORD.replace('-12', 'null')],
    ['an escape', RECORD.replace('"x"', '"\\u0078"')],
    ['more behind it', RECORD.replace(/\]$/, ',1]')],
  ])('with %s', (_what, record) => {
    expect(record).not.toBe(RECORD);
    expect(textOf(record)).not.toBe(record);
  });
});

describe('the hash text of a record', () => {
  const textOf = (record: string): string | undefined => {
    const parsed = parseRecord(record);
    return hashTextOfRecord(record, parsed, contentOf(parsed, 'h'));
  };
  const slowly = (record: string): string | undefined => {
    const content = contentOf(parseRecord(record), 'h');
    return hashTextIfAny(content.stream, content.revision, content);
  };
  const long = fc.stringMatching(/^[\w:.-]{190,230}$/);

  it('is the record of what was stored, with long texts and short ones', () => {
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(canonical, long), { maxKeys: 5, noNullPrototype: true }), (data) => {
        const { record } = toRecord('s-1', 0, { ...event, data });
        expect(textOf(record)).toBe(record);
      }),
    );
  });

  it('is found in the same way when the record was edited anywhere', () => {
    const data = { a: 'x'.repeat(250), b: 'y'.repeat(300), c: [1, { d: 'ç' }], n: 10 };
    const { record } = toRecord('s-1', 0, { ...event, data });
    const inserted = fc.constantFrom(' ', '\\', '"', ',', '0', 'e', 'x', '\u00e7', '{', '\\u0078', '.0', '[]');
    fc.assert(
      fc.property(fc.nat(record.length), fc.nat(2), inserted, (at, cut, text) => {
        const edited = record.slice(0, at) + text + record.slice(at + cut);
        let expected: string | undefined;
        try {
          expected = slowly(edited);
        } catch {
          return;
        }
        expect(textOf(edited)).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['another number spelling', '"n":10', '"n":1e1'],
    ['white space in place of a digit', '"n":10', '"n": 1'],
    ['a key twice', '"n":10', '"n":10,"n":10'],
    ['keys in another order', '"a":"b"', '"z":"b"'],
    ['an escape that says the same', '"a":"b"', '"a":"\\u0062"'],
    ['metadata with its own hash', '["actor","x"]', '["actor","x"],["hash","h"]'],
    ['metadata in another order', '["actor","x"]', '["zctor","x"]'],
    ['another previous hash in front', '[1,"p"', '[1,"q"'],
  ])('is not the record with %s', (_what, from, to) => {
    const { record } = toRecord('s-1', 0, { ...event, data: { a: 'b', n: 10 } });
    const edited = record.replace(from, to);
    expect(edited).not.toBe(record);
    expect(textOf(edited)).toBe(slowly(edited));
    expect(textOf(edited)).not.toBe(edited);
  });
});
