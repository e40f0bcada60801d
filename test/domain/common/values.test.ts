import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invoiceStream, parseInvoiceId, parseInvoiceStream } from '../../../src/domain/common/ids.js';
import { expandMarkers } from '../../../src/domain/common/markers.js';
import { centsFromDecimal, decimalFromCents } from '../../../src/domain/common/money.js';
import {
  addSeconds,
  brasiliaDate,
  brasiliaMidnight,
  brasiliaStamp,
  instant,
  lastSecondOfBrasiliaMonth,
} from '../../../src/domain/common/time.js';

describe('markers', () => {
  it('are the date of receipt in Brasília, also when UTC has moved on', () => {
    const text = '{{data}} {{mes}} {{mes_extenso}} {{mes_anterior}} {{mes_anterior_extenso}} {{ano}}';
    expect(expandMarkers(text, '2026-11-21T12:00:00.000Z')).toBe('21/11/2026 11 novembro 10 outubro 2026');
    expect(expandMarkers(text, '2027-01-01T02:59:59.999Z')).toBe('31/12/2026 12 dezembro 11 novembro 2026');
    expect(expandMarkers(text, '2027-01-01T03:00:00.000Z')).toBe('01/01/2027 01 janeiro 12 dezembro 2027');
  });

  it('that are not ours stay as they are', () => {
    expect(expandMarkers('{{cliente}} {{ data }} {{MES}} {{toString}}', '2026-11-21T12:00:00.000Z')).toBe(
      '{{cliente}} {{ data }} {{MES}} {{toString}}',
    );
  });
});

describe('the markers of each month', () => {
  const months = [
    'janeiro',
    'fevereiro',
    'março',
    'abril',
    'maio',
    'junho',
    'julho',
    'agosto',
    'setembro',
    'outubro',
    'novembro',
    'dezembro',
  ];

  it.each(months.map((name, index) => [name, index]))('%s', (name, index) => {
    const month = String(Number(index) + 1).padStart(2, '0');
    const before = (Number(index) + 11) % 12;
    expect(
      expandMarkers(
        '{{mes}} {{mes_extenso}} {{mes_anterior}} {{mes_anterior_extenso}}',
        `2026-${month}-15T12:00:00.000Z`,
      ),
    ).toBe(`${month} ${name} ${String(before + 1).padStart(2, '0')} ${months[before]}`);
  });

  it('are replaced wherever they stand, and as often', () => {
    expect(expandMarkers('{{ano}}{{ano}}, {{{mes}}}', '2026-11-21T12:00:00.000Z')).toBe('20262026, {11}');
  });
});

describe('Brasília time', () => {
  it('gives dates, stamps and midnights', () => {
    expect(brasiliaDate('2026-11-22T02:59:59.999Z')).toBe('2026-11-21');
    expect(brasiliaStamp('2026-11-21T12:00:00.500Z')).toBe('2026-11-21T09:00:00-03:00');
    expect(brasiliaStamp('2018-12-01T12:00:00.000Z')).toBe('2018-12-01T10:00:00-02:00');
    expect(brasiliaMidnight('2026-11-21')).toBe('2026-11-21T03:00:00.000Z');
    expect(brasiliaMidnight('2018-12-01')).toBe('2018-12-01T02:00:00.000Z');
  });

  it.each([
    ['2018-11-03', '2018-11-03T03:00:00.000Z'],
    ['2018-11-04', '2018-11-04T03:00:00.000Z'],
    ['2018-11-05', '2018-11-05T02:00:00.000Z'],
    ['2019-02-16', '2019-02-16T02:00:00.000Z'],
    ['2019-02-17', '2019-02-17T03:00:00.000Z'],
  ])('begins the day %s at %s, also where summer time skips midnight or repeats the hour before', (date, first) => {
    expect(brasiliaMidnight(date)).toBe(first);
    expect(brasiliaDate(first)).toBe(date);
    expect(brasiliaDate(addSeconds(first, -1)) < date).toBe(true);
  });

  it('ends a month rightly when summer time begins with the next', () => {
    expect(lastSecondOfBrasiliaMonth('1950-11-15T12:00:00.000Z')).toBe('1950-12-01T02:59:59.000Z');
  });

  it('begins every day since 2019 at midnight', () => {
    const day = fc.integer({ min: 0, max: 12_000 }).map((days) => instant(Date.UTC(2019, 2, 1) + days * 86_400_000));
    fc.assert(
      fc.property(day, (utcMidnight) => {
        const date = utcMidnight.slice(0, 10);
        const midnight = brasiliaMidnight(date);
        expect(brasiliaStamp(midnight)).toBe(`${date}T00:00:00-03:00`);
        expect(brasiliaDate(addSeconds(midnight, -1)) < date).toBe(true);
      }),
    );
  });

  it('a stamp names the same second as its instant', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => {
        expect(Date.parse(brasiliaStamp(instant(seconds * 1000)))).toBe(seconds * 1000);
      }),
    );
  });
});

describe('money', () => {
  it('keeps every cent', () => {
    expect(decimalFromCents(5)).toBe('0.05');
    expect(decimalFromCents(9_007_199_254_740_991)).toBe('90071992547409.91');
    fc.assert(fc.property(fc.maxSafeNat(), (cents) => centsFromDecimal(decimalFromCents(cents)) === cents));
  });
});

describe('ids', () => {
  it('are read with or without prefix, in any case, and nothing else', () => {
    const id = '1a2b3c4d-1111-4111-8111-111111111111';
    expect(parseInvoiceId(`nfse_${id.toUpperCase()}`)).toBe(id);
    expect(parseInvoiceId(id)).toBe(id);
    for (const bad of ['', 'nfse_', `cus_${id}`, `NFSE_${id}`, `${id}0`, `nfse_nfse_${id}`])
      expect(parseInvoiceId(bad)).toBeUndefined();
  });

  it('come back out of a stream name', () => {
    const address = {
      mode: 'test',
      companyId: '12ABC678000195',
      invoiceId: '1a2b3c4d-1111-4111-8111-111111111111',
    } as const;
    expect(parseInvoiceStream(invoiceStream(address.mode, address.companyId, address.invoiceId))).toEqual(address);
    expect(parseInvoiceStream('company-12345678000195')).toBeUndefined();
  });
});
