import type { Branded } from './brand.js';

/** ISO 8601, UTC, milliseconds, `Z`: `2026-11-21T12:00:00.000Z` (ID-2). */
export type Instant = Branded<string, 'instant'>;

/** `YYYY-MM-DD`, a calendar day in Brasília. */
export type FiscalDate = Branded<string, 'fiscal date'>;

/** Whether the text is a day of the calendar, as `YYYY-MM-DD`. JavaScript reads 30 February as 2 March. */
export const isDay = (text: string): boolean => {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && instant(ms).startsWith(text);
};

/** In force from a day on, and until another day, itself included, where that is known. */
export type InForce = { from: FiscalDate; until?: FiscalDate };

export const isInForce = ({ from, until }: InForce, day: FiscalDate): boolean =>
  from <= day && (until === undefined || day <= until);

/** A day in UTC, which has no leap seconds here. Brasília has had no summer time since 2019, so its days are as long. */
export const DAY_SECONDS = 86_400;
export const DAY_MS = DAY_SECONDS * 1_000;

/** `YYYY-MM-DD`, a day in UTC. */
export type UtcDay = string;

export const utcDay = (at: Instant): UtcDay => at.slice(0, 10);

export const instant = (epochMs: number): Instant => new Date(epochMs).toISOString();

export const epochMs = (at: Instant): number => {
  const known = parsed.get(at);
  if (known !== undefined) return known;
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) throw new Error(`not an instant: ${at}`);
  if (parsed.size >= PARSED_KEPT) parsed.clear();
  parsed.set(at, ms);
  return ms;
};

const PARSED_KEPT = 1_000;
/** One request parses the same few instants about twenty times. */
const parsed = new Map<Instant, number>();

/** Years in which an NFS-e can exist: there was none before, and a later year is a mistake. */
const [FIRST_YEAR, LAST_YEAR] = [2000, 2199];

export const isPlausible = (at: Instant): boolean => {
  const year = new Date(at).getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR;
};

const STAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(?:Z|[-+](\d{2}:\d{2}))$/;

/** The largest offset in use anywhere. */
const MAX_OFFSET = '14:00';

/** The instant of an ISO 8601 stamp with `Z` or an offset; undefined for a day or time that does not exist, or an implausible year. */
export const instantOfStamp = (stamp: string): Instant | undefined => {
  const [, wall = '', offset = '00:00'] = STAMP.exec(stamp) ?? [];
  const [wallMs, ms] = [Date.parse(`${wall}Z`), Date.parse(stamp)];
  if (Number.isNaN(wallMs) || Number.isNaN(ms) || offset > MAX_OFFSET) return undefined;
  // `Date.parse` reads a day or hour that does not exist as a later one.
  if (!instant(wallMs).startsWith(wall)) return undefined;
  const at = instant(ms);
  return isPlausible(at) ? at : undefined;
};

export const addSeconds = (at: Instant, seconds: number): Instant => instant(epochMs(at) + seconds * 1000);

export const isBefore = (a: Instant, b: Instant): boolean => epochMs(a) < epochMs(b);

/** Within [since, until). For waits: a clock that was set back ends the wait instead of prolonging it. */
export const isWithin = (now: Instant, since: Instant, until: Instant): boolean =>
  !isBefore(now, since) && isBefore(now, until);

export const laterOf = (a: Instant, b: Instant): Instant => (isBefore(a, b) ? b : a);

export const earlierOf = (a: Instant, b: Instant): Instant => (isBefore(b, a) ? b : a);

/** The zone, never a fixed offset: the law may bring daylight saving back (INV-cancelable_until). */
const makeZone = () => new Intl.DateTimeFormat('en-US', { timeZone: 'America/Sao_Paulo', timeZoneName: 'longOffset' });

/** Made when first needed: the tables of time zones take 30 ms to load, and most commands need none. */
let zone: Intl.DateTimeFormat | undefined;

/** Date and hour of the day in Brasília at this instant. */
export const brasiliaWallClock = (at: Instant): { year: number; month: number; day: number; hour: number } => {
  const shown = shownAt(epochMs(at));
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
  };
};

/** A date whose UTC parts are those of the clock in Brasília. */
const shownAt = (ms: number): Date => new Date(ms + offsetMs(ms));

const QUARTER_MS = 900_000;

const OFFSETS_KEPT = 1_000;
const offsets = new Map<number, number>();

/**
 * How far Brasília is ahead of UTC, in ms. The zone changes only at whole quarters of an hour. Asking for it costs more than all else that a
 * read or a DPS does with time, so the results are cached.
 */
const offsetMs = (ms: number): number => {
  const quarter = Math.floor(ms / QUARTER_MS);
  const known = offsets.get(quarter);
  if (known !== undefined) return known;
  if (offsets.size >= OFFSETS_KEPT) offsets.clear();
  const offset = zoneOffsetMs(quarter * QUARTER_MS);
  offsets.set(quarter, offset);
  return offset;
};

/** Before 1914 the offset had seconds. */
const zoneOffsetMs = (ms: number): number => {
  zone ??= makeZone();
  const [, sign, hours, minutes, seconds = '0'] = /GMT([-+])(\d+):(\d+)(?::(\d+))?/.exec(zone.format(ms)) ?? [];
  const ahead = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ahead : ahead;
};

const two = (n: number): string => String(n).padStart(2, '0');

/** `competence` of a call received at this instant (INV-competence). */
export const brasiliaDate = (at: Instant): FiscalDate => {
  if (at !== lastDated.at) lastDated = { at, date: shownAt(epochMs(at)).toISOString().slice(0, 'AAAA-MM-DD'.length) };
  return lastDated.date;
};

let lastDated: { at: Instant; date: FiscalDate } = { at: '', date: '' };

/** `AAAA-MM-DDThh:mm:ss-03:00`, the only form of `dhEmi` and `dhEvento` that Sefin reads safely (docs/national-system.md#dhemi). */
export const brasiliaStamp = (at: Instant): string => {
  const ms = epochMs(at);
  const local = shownAt(ms).toISOString().slice(0, 'AAAA-MM-DDThh:mm:ss'.length);
  // Brasília is west of Greenwich by whole hours, with or without daylight saving.
  return `${local}-${two(Math.round(-offsetMs(ms) / 3_600_000))}:00`;
};

/** `AAAA-MM-DD hh:mm:ss.mmm` of the clock in Brasília, for people. */
export const brasiliaClock = (at: Instant): string =>
  shownAt(epochMs(at)).toISOString().slice(0, 'AAAA-MM-DDThh:mm:ss.mmm'.length).replace('T', ' ');

/** The first instant of the day in Brasília: midnight, or the end of the hour that daylight saving skips there. */
export const brasiliaMidnight = (date: FiscalDate): Instant => {
  const guess = instant(Date.parse(`${date}T00:00:00Z`) + 3 * 3_600_000);
  // Where midnight is skipped, the first step lands an hour before the day; the second step mends that.
  return towardsMidnight(date, towardsMidnight(date, guess));
};

const towardsMidnight = (date: FiscalDate, at: Instant): Instant => {
  const shown = brasiliaWallClock(at);
  return addSeconds(at, 3600 * (brasiliaDate(at) < date ? 24 - shown.hour : -shown.hour));
};

const MONTHS_KEPT = 1_000;
const nextMonths = new Map<number, Instant>();

/**
 * First instant of the Brasília month after the month of `at`; from then on a cancel is refused (CANCEL-1). Every read asks for it, so it is cached.
 */
export const nextBrasiliaMonth = (at: Instant): Instant => {
  const shown = shownAt(epochMs(at));
  const month = shown.getUTCFullYear() * 12 + shown.getUTCMonth() + 1;
  const known = nextMonths.get(month);
  if (known !== undefined) return known;
  if (nextMonths.size >= MONTHS_KEPT) nextMonths.clear();
  const next = brasiliaMidnight(`${Math.floor(month / 12)}-${two((month % 12) + 1)}-01`);
  nextMonths.set(month, next);
  return next;
};

/** `cancelable_until`: the last second of the Brasília month of `issuedAt` (INV-cancelable_until). */
export const lastSecondOfBrasiliaMonth = (issuedAt: Instant): Instant => addSeconds(nextBrasiliaMonth(issuedAt), -1);
