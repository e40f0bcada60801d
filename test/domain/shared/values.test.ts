import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invoiceStream, parseInvoiceId, parseInvoiceStream } from '../../../src/domain/shared/ids.js';
import { expandMarkers } from '../../../src/domain/shared/markers.js';
import { centsFromDecimal, decimalFromCents } from '../../../src/domain/shared/money.js';
import { brasiliaDate, brasiliaMidnight, brasiliaStamp, instant } from '../../../src/domain/shared/time.js';

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

describe('Brasília time', () => {
  it('gives dates, stamps and midnights', () => {
    expect(brasiliaDate('2026-11-22T02:59:59.999Z')).toBe('2026-11-21');
    expect(brasiliaStamp('2026-11-21T12:00:00.500Z')).toBe('2026-11-21T09:00:00-03:00');
    expect(brasiliaStamp('2018-12-01T12:00:00.000Z')).toBe('2018-12-01T10:00:00-02:00');
    expect(brasiliaMidnight('2026-11-21')).toBe('2026-11-21T03:00:00.000Z');
    expect(brasiliaMidnight('2018-12-01')).toBe('2018-12-01T02:00:00.000Z');
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
