import type { EventOf } from '../common/event-of.js';
import type { InvoiceId } from '../common/ids.js';
import type { Instant } from '../common/time.js';

/**
 * Allocation of DPS numbers of one company, mode and series. Every event carries `nextNumber`, so the last event holds the whole state and
 * an allocation costs the same at any volume. Storage format: types and optional fields may be added, never renamed.
 */
type DpsNumberEvents = {
  DpsNumberAllocated: { number: number; nextNumber: number; invoiceId: InvoiceId; at: Instant };
  /** The operator named a later next number, or the first one of a series that has no events. This also lifts a block. */
  DpsNumberMoved: { nextNumber: number; at: Instant };
  /** A foreign note has one of our DPS ids. Nothing is sent until an operator moves series or number (docs/architecture.md#never-twice). */
  DpsSeriesBlocked: { nextNumber: number; number: number; invoiceId: InvoiceId; at: Instant };
};

export type DpsNumberEvent = EventOf<DpsNumberEvents>;

export const dpsNumberPersonalFields = {
  DpsNumberAllocated: [],
  DpsNumberMoved: [],
  DpsSeriesBlocked: [],
} as const satisfies Record<keyof DpsNumberEvents, readonly string[]>;

export const dpsNumberEventTypes = Object.keys(dpsNumberPersonalFields) as DpsNumberEvent['type'][];
