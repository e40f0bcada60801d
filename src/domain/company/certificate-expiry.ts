import { epochMs, type Instant } from '../shared/time.js';

/** Days before its end at which an operator is warned of a certificate, once each. */
export const WARNING_DAYS = [30, 15, 7, 1] as const;

export type ExpiryWarning = { kind: 'expired' } | { kind: 'ends_soon'; withinDays: (typeof WARNING_DAYS)[number] };

const DAY_MS = 86_400_000;

/** Full days that are left, negative once it is over. */
export const daysLeft = (notAfter: Instant, now: Instant): number =>
  Math.floor((epochMs(notAfter) - epochMs(now)) / DAY_MS);

/** The narrowest of the warnings that apply; undefined while there are 30 days or more. */
export const expiryWarning = (notAfter: Instant, now: Instant): ExpiryWarning | undefined => {
  const leftMs = epochMs(notAfter) - epochMs(now);
  if (leftMs <= 0) return { kind: 'expired' };
  const withinDays = WARNING_DAYS.findLast((days) => leftMs < days * DAY_MS);
  return withinDays === undefined ? undefined : { kind: 'ends_soon', withinDays };
};
