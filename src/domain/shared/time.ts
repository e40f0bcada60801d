/** ISO 8601, UTC, milliseconds, `Z`: `2026-11-21T12:00:00.000Z` (reading 1). */
export type Instant = string;

/** `YYYY-MM-DD`, a calendar day in Brasília. */
export type FiscalDate = string;

export const instant = (epochMs: number): Instant => new Date(epochMs).toISOString();

export const epochMs = (at: Instant): number => {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) throw new Error(`not an instant: ${at}`);
  return ms;
};

/** Years in which an NFS-e can have been made: before them there was none, and a later one is a mistake. */
const [FIRST_YEAR, LAST_YEAR] = [2000, 2199];

export const isPlausible = (at: Instant): boolean => {
  const year = new Date(at).getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR;
};

const STAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(?:Z|[-+](\d{2}:\d{2}))$/;

/** The largest offset that is in use anywhere. */
const MAX_OFFSET = '14:00';

/** Of ISO 8601 with `Z` or an offset; undefined unless the calendar has that day and time, in a plausible year. */
export const instantOfStamp = (stamp: string): Instant | undefined => {
  const [, wall = '', offset = '00:00'] = STAMP.exec(stamp) ?? [];
  const [wallMs, ms] = [Date.parse(`${wall}Z`), Date.parse(stamp)];
  if (Number.isNaN(wallMs) || Number.isNaN(ms) || offset > MAX_OFFSET) return undefined;
  // A day or an hour that does not exist is read as a later one that does.
  if (!instant(wallMs).startsWith(wall)) return undefined;
  const at = instant(ms);
  return isPlausible(at) ? at : undefined;
};

export const addSeconds = (at: Instant, seconds: number): Instant => instant(epochMs(at) + seconds * 1000);

export const isBefore = (a: Instant, b: Instant): boolean => epochMs(a) < epochMs(b);

export const latest = (a: Instant, b: Instant): Instant => (isBefore(a, b) ? b : a);

/** The zone, never a fixed offset: the law may bring daylight saving back (reading 3). */
const BRASILIA = 'America/Sao_Paulo';

const clock = new Intl.DateTimeFormat('en-US', {
  timeZone: BRASILIA,
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

export type WallClock = { year: number; month: number; day: number; hour: number; minute: number; second: number };

/** What a clock on a wall in Brasília shows at this instant. */
export const brasiliaWallClock = (at: Instant): WallClock => {
  const shown = shownAt(epochMs(at));
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
  };
};

/** A date whose UTC parts are those of the wall clock. */
const shownAt = (ms: number): Date => new Date(ms + offsetMs(ms));

const QUARTER_MS = 900_000;

const OFFSETS_KEPT = 1_000;
const offsets = new Map<number, number>();

/**
 * How far the wall clock is ahead of UTC. The zone changes at whole quarters of an hour only, and asking for it costs more
 * than everything else that a read or a DPS does with time, so the answers are kept.
 */
const offsetMs = (ms: number): number => {
  const quarter = Math.floor(ms / QUARTER_MS);
  const known = offsets.get(quarter);
  if (known !== undefined) return known;
  if (offsets.size >= OFFSETS_KEPT) offsets.clear();
  const start = quarter * QUARTER_MS;
  const offset = shownAsUtc(start) - start;
  offsets.set(quarter, offset);
  return offset;
};

const shownAsUtc = (ms: number): number => {
  const parts = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of clock.formatToParts(ms)) {
    if (type in parts) parts[type as keyof WallClock] = Number(value);
  }
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second);
};

const two = (n: number): string => String(n).padStart(2, '0');

/** `competence` of a call received at this instant (reading 2). */
export const brasiliaDate = (at: Instant): FiscalDate =>
  shownAt(epochMs(at)).toISOString().slice(0, 'AAAA-MM-DD'.length);

/** `AAAA-MM-DDThh:mm:ss-03:00`, the only form of `dhEmi` and `dhEvento` that Sefin reads safely (domain.md section 8). */
export const brasiliaStamp = (at: Instant): string => {
  const ms = epochMs(at);
  const local = shownAt(ms).toISOString().slice(0, 'AAAA-MM-DDThh:mm:ss'.length);
  // Brasília is west of Greenwich, by whole hours, whatever the law says of summers.
  return `${local}-${two(Math.round(-offsetMs(ms) / 3_600_000))}:00`;
};

/** The first instant of the given day in Brasília: midnight, or the end of the hour that a summer time skips there. */
export const brasiliaMidnight = (date: FiscalDate): Instant => {
  const guess = instant(Date.parse(`${date}T00:00:00Z`) + 3 * 3_600_000);
  // The second step is for a skipped midnight: the first one then lands an hour before the day.
  return towardsMidnight(date, towardsMidnight(date, guess));
};

const towardsMidnight = (date: FiscalDate, at: Instant): Instant => {
  const shown = brasiliaWallClock(at);
  return addSeconds(at, 3600 * (brasiliaDate(at) < date ? 24 - shown.hour : -shown.hour));
};

/** First instant of the Brasília month after the one that holds `at`: from here on a cancel is refused (reading 48). */
export const nextBrasiliaMonth = (at: Instant): Instant => {
  const { year, month } = brasiliaWallClock(at);
  return brasiliaMidnight(month === 12 ? `${year + 1}-01-01` : `${year}-${two(month + 1)}-01`);
};

/** `cancelable_until`: the last second of the month of `issuedAt` in Brasília (reading 3). */
export const lastSecondOfBrasiliaMonth = (issuedAt: Instant): Instant => addSeconds(nextBrasiliaMonth(issuedAt), -1);
