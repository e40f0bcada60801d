import { addSeconds, type Instant } from '../../domain/shared/time.js';

/** A test invoice lives 7 days; the key of the UTC day that sealed it stays for 8 days after that day (design section 4). */
const KEPT_DAYS = 8;
const DAY_SECONDS = 86_400;

/** The oldest UTC day, `YYYY-MM-DD`, whose key is kept; those of the days before it are to be destroyed. */
export const oldestKeptDay = (now: Instant): string => addSeconds(now, -KEPT_DAYS * DAY_SECONDS).slice(0, 10);

/** From when on nothing opens what the key of this UTC day sealed, wherever a copy of it lies. */
export const keyGoneAt = (day: string): Instant => addSeconds(`${day}T00:00:00.000Z`, (KEPT_DAYS + 1) * DAY_SECONDS);

/** The UTC day whose key sealed a text of this generation; undefined for a live one, whose key stays. */
export const sealingDayOf = (generation: string): string | undefined =>
  /^t(\d{4}-\d{2}-\d{2})(?:\.|$)/.exec(generation)?.[1];
