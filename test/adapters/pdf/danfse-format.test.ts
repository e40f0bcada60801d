import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  brazilianPhone,
  day,
  dayAndTime,
  money,
  nationalServiceCode,
  nbsCode,
  percent,
  postalCode,
  shortened,
  slashed,
  sumOf,
  taxId,
} from '../../../src/adapters/pdf/format.js';
import { cutToLines } from '../../../src/adapters/pdf/text-width.js';
import { decimalFromCents } from '../../../src/domain/common/money.js';

const cents = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

describe('amounts of the DANFSe', () => {
  it('show as Brazilians write them', () => {
    expect(money('1234567.89')).toBe('R$ 1.234.567,89');
    expect(money('0.00')).toBe('R$ 0,00');
    expect(money('12')).toBe('R$ 12,00');
    expect(money('999999999999999.99')).toBe('R$ 999.999.999.999.999,99');
    expect(percent('5.00')).toBe('5,00%');
    expect(money(undefined)).toBe('-');
  });

  it('keep every digit of the XML', () => {
    fc.assert(
      fc.property(cents, (amount) => {
        expect(Number(money(decimalFromCents(amount)).replace(/\D/g, ''))).toBe(amount);
      }),
    );
  });

  it('group thousands whatever the amount', () => {
    fc.assert(
      fc.property(cents, (amount) => {
        expect(money(decimalFromCents(amount))).toMatch(/^R\$ \d{1,3}(\.\d{3})*,\d{2}$/);
      }),
    );
  });

  it('add up exactly, and to nothing when nothing is there', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10 ** 12 }), { minLength: 1 }), (amounts) => {
        const total = amounts.reduce((sum, amount) => sum + amount, 0);
        expect(sumOf(undefined, ...amounts.map(decimalFromCents))).toBe(decimalFromCents(total));
      }),
    );
    expect(sumOf(undefined, undefined)).toBeUndefined();
  });
});

describe('codes and dates of the DANFSe', () => {
  it('show with their punctuation', () => {
    expect(taxId('12345678000195')).toBe('12.345.678/0001-95');
    expect(taxId('12ABC34501DE35')).toBe('12.ABC.345/01DE-35');
    expect(taxId('12345678909')).toBe('123.456.789-09');
    expect(taxId('GB-998877')).toBe('GB-998877');
    expect(postalCode('24020077')).toBe('24.020-077');
    expect(brazilianPhone('21987654321')).toBe('(21) 98765-4321');
    expect(brazilianPhone('2133334444')).toBe('(21) 3333-4444');
    expect(nationalServiceCode('010401')).toBe('01.04.01');
    expect(nbsCode('115022000')).toBe('1.1502.20.00');
  });

  it.each(['12125551234', '08001234567', '5521987654321', '351212345678', '190'])(
    'show a telephone of another form as it is: %s',
    (fone) => {
      expect(brazilianPhone(fone)).toBe(fone);
    },
  );

  it('show the hour that the XML holds, in whatever zone this machine is', () => {
    expect(day('2026-03-03')).toBe('03/03/2026');
    expect(dayAndTime('2026-03-03T23:59:58-03:00')).toBe('03/03/2026 23:59:58');
  });

  it('show a dash for what is absent', () => {
    expect([taxId(undefined), day(undefined), postalCode(undefined), slashed(undefined, undefined)]).toEqual(
      Array(4).fill('-'),
    );
    expect(slashed('Niterói', undefined)).toBe('Niterói / -');
  });
});

describe('texts of the DANFSe', () => {
  it('that are cut after a full stop end in three dots', () => {
    expect(shortened('Entrega na sexta. Depois', 20)).toBe('Entrega na sexta...');
    const style = { size: 7 };
    expect(cutToLines(['Entrega na sexta.', 'Depois'], 1, 1_000, style)).toEqual(['Entrega na sexta...']);
  });

  it('never exceed their size and say when they were cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 4, max: 40 }), (text, size) => {
        const shown = shortened(text, size);
        expect(Array.from(shown).length).toBeLessThanOrEqual(size);
        expect(shown === text || shown.endsWith('...')).toBe(true);
      }),
    );
  });
});
