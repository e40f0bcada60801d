import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addSeconds, instant, lastSecondOfBrasiliaMonth } from '../../../src/domain/common/time.js';
import { cancelableUntil, requestCancellation } from '../../../src/domain/invoice/request-cancellation.js';
import type { Invoice } from '../../../src/domain/invoice/state.js';
import { accepted, attempted, authorizedData, givenInvoice } from '../../support/fixture/invoice.js';

const issuedAt = (authorizedAt: string): Invoice =>
  givenInvoice(accepted(), attempted(1, 1), { type: 'Authorized', data: { ...authorizedData(1, 2), authorizedAt } });

const isAccepted = (invoice: Invoice, now: string): boolean => 'events' in requestCancellation(invoice, { now });

describe('the cancel window', () => {
  it.each([
    ['2026-11-21T12:00:00.000Z', '2026-12-01T02:59:59.000Z'],
    ['2026-12-01T02:59:59.999Z', '2026-12-01T02:59:59.000Z'],
    ['2026-12-01T03:00:00.000Z', '2027-01-01T02:59:59.000Z'],
    ['2027-12-31T23:00:00.000Z', '2028-01-01T02:59:59.000Z'],
    ['2028-02-10T00:00:00.000Z', '2028-03-01T02:59:59.000Z'],
    // Daylight saving began on 2018-11-04 at midnight and ended on 2019-02-17: the zone counts, not the offset.
    ['2018-10-31T12:00:00.000Z', '2018-11-01T02:59:59.000Z'],
    ['2018-11-10T12:00:00.000Z', '2018-12-01T01:59:59.000Z'],
    ['2019-02-10T12:00:00.000Z', '2019-03-01T02:59:59.000Z'],
  ])('of a note of %s ends with %s', (authorizedAt, end) => {
    expect(lastSecondOfBrasiliaMonth(authorizedAt)).toBe(end);
  });

  it.each([
    ['2026-12-01T02:59:59.000Z', true],
    ['2026-12-01T02:59:59.999Z', true],
    ['2026-12-01T03:00:00.000Z', false],
    ['2026-12-01T02:59:58.000Z', true],
  ])('of a note of November, asked at %s: %s', (now, open) => {
    expect(isAccepted(issuedAt('2026-11-21T12:00:00.000Z'), now)).toBe(open);
  });

  it('agrees with cancelable_until at every second of the hour around the boundary', () => {
    const invoice = issuedAt('2026-11-30T22:00:00.000Z');
    for (let second = -1800; second <= 1800; second++) {
      const now = addSeconds('2026-12-01T03:00:00.000Z', second);
      const until = cancelableUntil(invoice, now);
      expect(until !== undefined).toBe(isAccepted(invoice, now));
      expect(until).toBe(second < 0 ? '2026-12-01T02:59:59.000Z' : undefined);
    }
  });

  it('agrees with cancelable_until at any instant of any month', () => {
    const epoch = fc.integer({ min: Date.parse('2019-03-01T00:00:00Z'), max: Date.parse('2040-01-01T00:00:00Z') });
    fc.assert(
      fc.property(epoch, fc.integer({ min: -3_000_000_000, max: 3_000_000_000 }), (issuedMs, offsetMs) => {
        const invoice = issuedAt(instant(issuedMs));
        const now = instant(issuedMs + offsetMs);
        const until = cancelableUntil(invoice, now);
        expect(until !== undefined).toBe(isAccepted(invoice, now));
        if (until !== undefined) expect(now < addSeconds(until, 1)).toBe(true);
      }),
    );
  });
});
