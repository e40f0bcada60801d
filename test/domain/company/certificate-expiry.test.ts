import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../../src/domain/common/time.js';
import { daysLeft, expiryWarning } from '../../../src/domain/company/certificate-expiry.js';

const now = '2026-11-21T12:00:00.000Z';
const in_ = (days: number, seconds = 0) => addSeconds(now, days * 86_400 + seconds);

describe('the warning of a certificate', () => {
  it.each([
    [in_(31), undefined, 31],
    [in_(30), undefined, 30],
    [in_(30, -1), { kind: 'ends_soon', withinDays: 30 }, 29],
    [in_(15), { kind: 'ends_soon', withinDays: 30 }, 15],
    [in_(15, -1), { kind: 'ends_soon', withinDays: 15 }, 14],
    [in_(7, -1), { kind: 'ends_soon', withinDays: 7 }, 6],
    [in_(1), { kind: 'ends_soon', withinDays: 7 }, 1],
    [in_(1, -1), { kind: 'ends_soon', withinDays: 1 }, 0],
    [in_(0, 1), { kind: 'ends_soon', withinDays: 1 }, 0],
    [in_(0), { kind: 'expired' }, 0],
    [in_(0, -1), { kind: 'expired' }, -1],
  ])('that ends at %s is %j, with %i full days left', (notAfter, warning, days) => {
    expect(expiryWarning(notAfter, now)).toEqual(warning);
    expect(daysLeft(notAfter, now)).toBe(days);
  });
});
