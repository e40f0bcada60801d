import { type Instant, instant } from '../domain/shared/time.js';

const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** `2026-11-21` (its first instant in UTC) or a full instant with `Z` or an offset; undefined for anything else, 30 February too. */
export const readInstant = (text: string): Instant | undefined => {
  if (!DATE.test(text) && !MOMENT.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || !isDayOfCalendar(text.slice(0, 10)) ? undefined : instant(ms);
};

/** JavaScript takes 30 February for 2 March. */
const isDayOfCalendar = (date: string): boolean => instant(Date.parse(date)).startsWith(date);
