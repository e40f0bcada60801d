import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HashedEvent, hashText, NotCanonical, sortedJson } from '../../../src/domain/log/hash-text.js';
import { fromRecord, toRecord } from '../../../src/domain/log/record.js';

const event = (overrides: Partial<HashedEvent> = {}): HashedEvent => ({
  id: '1a2b3c4d-1111-4111-8111-111111111111',
  type: 'InvoiceAccepted',
  data: { b: [1, true], a: { z: 'ç', Z: '"' } },
  metadata: { prevHash: 'p', hash: 'h', actor: 'worker:issuer' },
  ...overrides,
});

describe('the text that the hash covers', () => {
  it('has one spelling: keys in the order of their code units, no hash of its own', () => {
    expect(hashText('company-1', 3, event())).toBe(
      '[1,"p","company-1",3,"1a2b3c4d-1111-4111-8111-111111111111","InvoiceAccepted",' +
        '[["actor","worker:issuer"],["prevHash","p"]],{"a":{"Z":"\\"","z":"ç"},"b":[1,true]}]',
    );
  });

  it('does not depend on the order in which the keys were made', () => {
    const keys = fc.uniqueArray(fc.stringMatching(/^[a-zA-Z_áé]{1,4}$/), { minLength: 2 });
    fc.assert(
      fc.property(keys, fc.func(fc.integer()), (names, order) => {
        const made = (ordered: string[]) => Object.fromEntries(ordered.map((name) => [name, name]));
        const shuffled = [...names].sort((a, b) => order(a) - order(b));
        expect(sortedJson(made(shuffled))).toBe(sortedJson(made(names)));
        expect(Object.keys(JSON.parse(sortedJson(made(names))))).toEqual([...names].sort());
      }),
    );
  });
});

it('keeps a key that names a prototype like any other', () => {
  expect(sortedJson(JSON.parse('{"b":1,"__proto__":{"y":"z"},"a":[{"__proto__":"x"}]}'))).toBe(
    '{"__proto__":{"y":"z"},"a":[{"__proto__":"x"}],"b":1}',
  );
});

describe('what has no single spelling', () => {
  it.each([
    ['a fraction', 1.5, 'a number must be a safe integer'],
    ['a number beyond the safe ones', 2 ** 53, 'a number must be a safe integer'],
    ['null', null, 'null and class instances have no canonical text'],
    ['a class instance', new Date(0), 'null and class instances have no canonical text'],
    ['undefined', undefined, 'a value of type undefined has no canonical text'],
    ['a big integer', 1n, 'a value of type bigint has no canonical text'],
    ['a method', { toJSON: () => 'x' }, 'a value of type function has no canonical text'],
    ['a numeric key', { 12: 'x' }, 'an object key must not be a number'],
    ['a hole in an array', Array(1), 'a value of type undefined has no canonical text'],
  ])('is %s', (_what, value, message) => {
    expect(() => sortedJson({ value })).toThrow(new NotCanonical(message));
    expect(() => sortedJson({ value })).toThrow(expect.objectContaining({ name: 'NotCanonical' }));
  });

  it.each([
    [{ a1: 'x' }, '{"a1":"x"}'],
    [{ '1a': 'x' }, '{"1a":"x"}'],
    [Object.assign(Object.create(null), { a: -1 }), '{"a":-1}'],
    [[], '[]'],
  ])('is not %j', (value, text) => {
    expect(sortedJson(value)).toBe(text);
  });
});

describe('a stored record', () => {
  it('is the hash text and the hash, and comes back as the event that it was', () => {
    const stored = toRecord('company-1', 3, event());
    expect(stored).toEqual({ record: hashText('company-1', 3, event()), hash: 'h' });
    expect(fromRecord(stored)).toEqual({ stream: 'company-1', revision: 3, ...event() });
  });

  it.each([
    ['without a hash', 's', event({ metadata: {} }), 'an event without metadata.hash cannot be stored'],
    [
      'with an id that is no UUID',
      's',
      event({ id: 'x1a2b3c4d-1111-4111-8111-111111111111' }),
      'an event id must be a UUID',
    ],
    [
      'with an id longer than a UUID',
      's',
      event({ id: '1a2b3c4d-1111-4111-8111-1111111111111' }),
      'an event id must be a UUID',
    ],
    [
      'with metadata that name a prototype',
      's',
      event({ metadata: JSON.parse('{"hash":"h","__proto__":"x"}') }),
      'metadata has no key __proto__',
    ],
    ['with NUL in the stream', 's\0', event(), 'a stream, type or hash holds a character that no engine stores'],
    [
      'with half a character in the type',
      's',
      event({ type: '\ud800' }),
      'a stream, type or hash holds a character that no engine stores',
    ],
    [
      'with NUL in the hash',
      's',
      event({ metadata: { hash: '\0' } }),
      'a stream, type or hash holds a character that no engine stores',
    ],
  ])('cannot be made %s', (_what, stream, of, message) => {
    expect(() => toRecord(stream, 0, of)).toThrow(new NotCanonical(message));
  });

  it('takes an id in capitals', () => {
    expect(toRecord('s', 0, event({ id: event().id.toUpperCase() })).hash).toBe('h');
  });

  it.each(['[2,"","s",0,"i","t",[],{}]', '{"0":1}', '"1"'])('of another format is not read: %s', (record) => {
    expect(() => fromRecord({ record, hash: 'h' })).toThrow('a record of an unknown format');
  });

  it('whose metadata name a prototype is not read', () => {
    const record = '[1,"","s",0,"i","t",[["__proto__","x"]],{}]';
    expect(() => fromRecord({ record, hash: 'h' })).toThrow('metadata has no key __proto__');
  });
});
