import { DAY_MS, epochMs, type Instant } from '../common/time.js';

/** Days before a certificate's end at which an operator gets a warning, one for each. */
export const WARNING_DAYS = [30, 15, 7, 1] as const;

type ExpiryWarning = { kind: 'expired' } | { kind: 'ends_soon'; withinDays: (typeof WARNING_DAYS)[number] };

/** Full days left; negative after the end. */
export const daysLeft = (notAfter: Instant, now: Instant): number =>
  Math.floor((epochMs(notAfter) - epochMs(now)) / DAY_MS);

/** The warning with the fewest days that applies; undefined while 30 days or more are left. */
export const expiryWarning = (notAfter: Instant, now: Instant): ExpiryWarning | undefined => {
  const leftMs = epochMs(notAfter) - epochMs(now);
  if (leftMs <= 0) return { kind: 'expired' };
  const withinDays = WARNING_DAYS.findLast((days) => leftMs < days * DAY_MS);
  return withinDays === undefined ? undefined : { kind: 'ends_soon', withinDays };
};
