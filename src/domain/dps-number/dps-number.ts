import type { InvoiceId } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';

/**
 * Allocation of DPS numbers of one company, mode and series. Every event carries `nextNumber`, so that the last event
 * alone is the whole state and allocation costs the same at any volume. Storage format, as the invoice's events.
 */
export type DpsNumberEvent =
  | { type: 'DpsNumberAllocated'; data: { number: number; nextNumber: number; invoiceId: InvoiceId; at: Instant } }
  /** The operator named a later next number; this also lifts a block. */
  | { type: 'DpsNumberMoved'; data: { nextNumber: number; at: Instant } }
  /** A foreign note stands under one of our ids: nothing is sent until an operator moves series or number (design section 6, 5). */
  | { type: 'DpsSeriesBlocked'; data: { nextNumber: number; number: number; invoiceId: InvoiceId; at: Instant } };

export type DpsNumberEventType = DpsNumberEvent['type'];

export const dpsNumberPersonalFields = {
  DpsNumberAllocated: [],
  DpsNumberMoved: [],
  DpsSeriesBlocked: [],
} as const satisfies Record<DpsNumberEventType, readonly string[]>;

export const dpsNumberEventTypes = Object.keys(dpsNumberPersonalFields) as DpsNumberEventType[];

/** `nDPS` has at most 15 digits. */
export const MAX_DPS_NUMBER = 999_999_999_999_999;

export type DpsNumbers = { nextNumber: number; blocked: boolean };

/** The state after the last event, or the company file's start for a series without any. */
export const dpsNumbers = (last: DpsNumberEvent | undefined, start: number): DpsNumbers =>
  last === undefined
    ? { nextNumber: start, blocked: false }
    : { nextNumber: last.data.nextNumber, blocked: last.type === 'DpsSeriesBlocked' };

export type Allocation = { event: DpsNumberEvent; number: number } | { refused: 'series_blocked' | 'series_exhausted' };

/** A number is never given twice; one whose invoice never got to an attempt is a hole, which the law allows. */
export const allocateNumber = (numbers: DpsNumbers, invoiceId: InvoiceId, at: Instant): Allocation => {
  if (numbers.blocked) return { refused: 'series_blocked' };
  const { nextNumber: number } = numbers;
  if (number > MAX_DPS_NUMBER) return { refused: 'series_exhausted' };
  return { number, event: { type: 'DpsNumberAllocated', data: { number, nextNumber: number + 1, invoiceId, at } } };
};

export const blockSeries = (
  numbers: DpsNumbers,
  number: number,
  invoiceId: InvoiceId,
  at: Instant,
): readonly DpsNumberEvent[] =>
  numbers.blocked
    ? []
    : [{ type: 'DpsSeriesBlocked', data: { nextNumber: numbers.nextNumber, number, invoiceId, at } }];

/** Forward only. */
export const moveNumber = (
  numbers: DpsNumbers,
  nextNumber: number,
  at: Instant,
): { events: readonly DpsNumberEvent[] } | { refused: string } => {
  if (nextNumber < numbers.nextNumber) {
    return { refused: `the next DPS number can only be moved forward: it is ${numbers.nextNumber}` };
  }
  if (nextNumber === numbers.nextNumber && !numbers.blocked) return { events: [] };
  return { events: [{ type: 'DpsNumberMoved', data: { nextNumber, at } }] };
};
