import { describe, expect, it } from 'vitest';
import {
  accessKeyCheckDigit,
  cancellationRequestId,
  dpsId,
  isAccessKey,
} from '../../../src/domain/common/access-key.js';

const identity = { municipality: '2111300', cnpj: '12345678000195', series: '1', number: 1 };

describe('dpsId', () => {
  it('pads series and number to the 45 characters of the layout', () => {
    expect(dpsId(identity)).toBe('DPS211130021234567800019500001000000000000001');
    expect(dpsId({ ...identity, cnpj: '12ABC34501DE35' })).toBe('DPS2111300212ABC34501DE3500001000000000000001');
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses the number %s', (number) => {
    expect(() => dpsId({ ...identity, number })).toThrow();
  });

  it('refuses parts of a wrong length', () => {
    expect(() => dpsId({ ...identity, cnpj: '123' })).toThrow();
    expect(() => dpsId({ ...identity, series: '100000' })).toThrow();
  });
});

describe('access key', () => {
  // The two examples of docs/national-system.md#check-digit; the second has remainder 1.
  const key = '21113002200574753000100000000000146726037032711025';

  it('has the check digit of the worked example', () => {
    expect(accessKeyCheckDigit(key.slice(0, 49))).toBe('5');
    expect(isAccessKey(key)).toBe(true);
  });

  it.each(Array.from({ length: 9 }, (_unused, index) => String((Number(key.at(-1)) + index + 1) % 10)))(
    'refuses the digit %s',
    (digit) => expect(isAccessKey(key.slice(0, 49) + digit)).toBe(false),
  );

  it('gives 0 for the remainders 0 and 1', () => {
    const zero = '0'.repeat(49);
    expect(accessKeyCheckDigit(zero)).toBe('0');
    // 6 at weight 2 is 12, remainder 1.
    expect(accessKeyCheckDigit(`${'0'.repeat(48)}6`)).toBe('0');
  });

  it('counts a letter by its ASCII code minus 48', () => {
    // A is 17, at weight 2 it gives 34, remainder 1.
    expect(accessKeyCheckDigit(`${'0'.repeat(48)}A`)).toBe('0');
    expect(accessKeyCheckDigit(`${'0'.repeat(48)}B`)).toBe('8');
  });

  it('names the request of its cancellation', () => {
    expect(cancellationRequestId(key)).toBe(`PRE${key}101101`);
  });
});
