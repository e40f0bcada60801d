import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashText } from '../../../src/domain/log/hash-text.js';
import { isPlainHashText } from '../../../src/domain/log/plain-record.js';
import { fromRecord } from '../../../src/domain/log/record.js';

const event = {
  id: '1a2b3c4d-1111-4111-8111-111111111111',
  type: 'InvoiceAccepted',
  data: { a: { Z: 'x', z: 'ç' }, b: [1, true, [], {}], c: false, d: -12 },
  metadata: { actor: 'worker:issuer', hash: 'h', prevHash: 'p' },
};
const TEXT = hashText('company-1', 3, event);

/** Of a record as it would be read. */
const isPlain = (record: string): boolean => isPlainHashText(record, fromRecord({ record, hash: 'h' }));

describe('a record that is the hash text of what is read from it', () => {
  it('is known without making that text', () => {
    expect(isPlain(TEXT)).toBe(true);
    expect(isPlain(hashText('s', 0, { ...event, metadata: { hash: 'h' } }))).toBe(true);
  });

  it.each([
    ['white space', TEXT.replace(',"InvoiceAccepted"', ', "InvoiceAccepted"')],
    ['keys in another order', TEXT.replace('"c":false,"d":-12', '"d":-12,"c":false')],
    ['a key twice', TEXT.replace('"c":false', '"c":true,"c":false')],
    ['metadata in another order', TEXT.replace(/\[\["actor".*?\]\]/, '[["prevHash","p"],["actor","worker:issuer"]]')],
    ['another hash before it', TEXT.replace('[1,"p"', '[1,"q"')],
    ['a number in another form', TEXT.replace('-12', '-12.0')],
    ['a fraction', TEXT.replace('-12', '1.5')],
    ['null', TEXT.replace('-12', 'null')],
    ['an escape', TEXT.replace('"x"', '"\\u0078"')],
    ['more behind it', TEXT.replace(/\]$/, ',1]')],
  ])('is not known with %s', (_what, record) => {
    expect(record).not.toBe(TEXT);
    expect(isPlain(record)).toBe(false);
  });

  it('is known for whatever content without escapes and numeric keys, and for no other', () => {
    const key = fc.stringMatching(/^[a-zA-Z_áé"][a-zA-Z_áé1]{0,3}$/);
    const { data } = fc.letrec((tie) => ({
      value: fc.oneof(fc.string({ unit: 'grapheme' }), fc.maxSafeInteger(), fc.boolean(), tie('list'), tie('data')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      data: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    }));
    fc.assert(
      fc.property(data, (content) => {
        const record = hashText('s', 7, { ...event, data: content });
        expect(isPlain(record)).toBe(!record.includes('\\'));
      }),
    );
  });
});
