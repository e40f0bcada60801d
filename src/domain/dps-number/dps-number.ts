import { type Decided, type Decision, type Fold, noChange } from '../common/decision.js';
import type { InvoiceId } from '../common/ids.js';
import type { Instant } from '../common/time.js';
import type { DpsNumberEvent } from './events.js';

/** `nDPS` has at most 15 digits. */
export const MAX_DPS_NUMBER = 999_999_999_999_999;

/** Series 1 to 49999 are for own software (docs/national-system.md#series-and-numbers). */
export const MAX_SOFTWARE_SERIES = 49_999;

export type DpsNumbers = { nextNumber: number; blocked: boolean };

/** The state after the last event; for a series without events, the start that the company file names. */
export const dpsNumbers = (last: DpsNumberEvent | undefined, start: number): DpsNumbers =>
  last === undefined
    ? { nextNumber: start, blocked: false }
    : { nextNumber: last.data.nextNumber, blocked: last.type === 'DpsSeriesBlocked' };

/** The fold of a series; any last part of its events gives the same state as all of them. */
export const dpsNumbersFrom = (start: number): Fold<DpsNumbers, DpsNumberEvent> => ({
  initial: dpsNumbers(undefined, start),
  evolve: (_numbers, event) => dpsNumbers(event, start),
});

/** True after the last number of a series: only another series can give numbers. */
export const isUsedUp = ({ nextNumber }: Pick<DpsNumbers, 'nextNumber'>): boolean => nextNumber > MAX_DPS_NUMBER;

export type AllocationRefusal = 'series_blocked' | 'series_exhausted';

/** Takes the next number. A number is never given twice. A number whose invoice never reached an attempt leaves a gap, which the law allows. */
export const allocateNumber = (
  numbers: DpsNumbers,
  invoiceId: InvoiceId,
  at: Instant,
): Decision<DpsNumberEvent, AllocationRefusal> => {
  if (isUsedUp(numbers)) return { refused: 'series_exhausted' };
  if (numbers.blocked) return { refused: 'series_blocked' };
  const { nextNumber: number } = numbers;
  return { events: [{ type: 'DpsNumberAllocated', data: { number, nextNumber: number + 1, invoiceId, at } }] };
};

export const blockSeries = (
  numbers: DpsNumbers,
  number: number,
  invoiceId: InvoiceId,
  at: Instant,
): Decided<DpsNumberEvent> =>
  numbers.blocked
    ? noChange
    : { events: [{ type: 'DpsSeriesBlocked', data: { nextNumber: numbers.nextNumber, number, invoiceId, at } }] };

/**
 * Records the number at which a series without events begins. An issuer that still has the earlier company file then loses the race for the first
 * event, and decides again.
 */
export const beginNumbers = (nextNumber: number, at: Instant): Decided<DpsNumberEvent> => ({
  events: [{ type: 'DpsNumberMoved', data: { nextNumber, at } }],
});

/** Moves the next number forward; refuses to move it back. */
export const moveNumber = (numbers: DpsNumbers, nextNumber: number, at: Instant): Decision<DpsNumberEvent> => {
  if (nextNumber < numbers.nextNumber) {
    if (isUsedUp(numbers)) return { refused: 'the series is used up, its last number was given: name another series' };
    return { refused: `the next DPS number can only be moved forward: it is ${numbers.nextNumber}` };
  }
  if (nextNumber === numbers.nextNumber && !numbers.blocked) return noChange;
  return { events: [{ type: 'DpsNumberMoved', data: { nextNumber, at } }] };
};

/**
 * Continues the series after every note that a comparison of the series has found (ADR 22). A stop ends by it only when the comparison has seen the
 * note that stopped the series: `stoppedBy` is the number of that note. Then someone has accounted for the note, and the numbers from the next one on
 * were proven free. Where that note was not seen, the comparison says nothing of the other party, who may continue the series.
 */
export const goOnAfterNotes = (
  numbers: DpsNumbers,
  found: readonly number[],
  stoppedBy: number | undefined,
  at: Instant,
): Decision<DpsNumberEvent> => {
  const nextNumber = found.reduce((next, number) => Math.max(next, number + 1), numbers.nextNumber);
  const isStopSeen = stoppedBy !== undefined && found.includes(stoppedBy);
  return nextNumber > numbers.nextNumber || isStopSeen ? moveNumber(numbers, nextNumber, at) : noChange;
};
