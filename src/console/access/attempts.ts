import { epochMs } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';

const WINDOW_MS = 60_000;
/** As long as a session lasts: an operator's address stays known from one sign-in to the next. */
const KNOWN_MS = 12 * 3_600_000;
const ADDRESSES_KEPT = 1_000;

/** The place of the wrong tokens of all addresses, which no address is. */
const ALL = '*';

/** Wrong tokens of the last minute, by address. */
export type Attempts = {
  /** Seconds to wait; 0 when a token may be tried now. */
  waitSeconds(address: string): number;
  wrong(address: string): void;
  right(address: string): void;
};

/**
 * At most `limit` wrong ones a minute and address, and `limitOfAll` of all addresses together: who is over it is not even compared,
 * so that many addresses try no more tokens than a few. An address that gave the right token lately has its own limit alone, so
 * that nobody else's tries keep operators out.
 */
export const createAttempts = (clock: Clock, limit = 5, limitOfAll = 20): Attempts => {
  const wrongs = new Map<string, readonly number[]>();
  const rightAt = new Map<string, number>();
  const isKnown = (address: string): boolean =>
    Math.abs(epochMs(clock.now()) - (rightAt.get(address) ?? Number.NEGATIVE_INFINITY)) < KNOWN_MS;
  const recent = (place: string, nowMs: number): readonly number[] =>
    (wrongs.get(place) ?? []).filter((at) => Math.abs(nowMs - at) < WINDOW_MS);
  const waitAt = (place: string, most: number): number => {
    const nowMs = epochMs(clock.now());
    const hits = recent(place, nowMs);
    // There is room again once only `most - 1` of them are of the last minute.
    const leaving = hits[hits.length - most];
    return leaving === undefined ? 0 : Math.ceil((leaving + WINDOW_MS - nowMs) / 1000);
  };
  const note = (place: string, nowMs: number): void => {
    const hits = [...recent(place, nowMs), nowMs];
    wrongs.delete(place);
    wrongs.set(place, hits);
  };
  return {
    waitSeconds: (address) => Math.max(waitAt(address, limit), isKnown(address) ? 0 : waitAt(ALL, limitOfAll)),
    right: (address) => {
      rightAt.delete(address);
      rightAt.set(address, epochMs(clock.now()));
      const [first] = rightAt.keys();
      if (rightAt.size > ADDRESSES_KEPT && first !== undefined) rightAt.delete(first);
    },
    wrong: (address) => {
      const nowMs = epochMs(clock.now());
      note(address, nowMs);
      note(ALL, nowMs);
      const [first] = wrongs.keys();
      if (wrongs.size > ADDRESSES_KEPT && first !== undefined) wrongs.delete(first);
    },
  };
};
