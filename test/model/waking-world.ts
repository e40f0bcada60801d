import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { evolve } from '../../src/domain/invoice/evolve.js';
import type { Limits } from '../../src/domain/invoice/limits.js';
import type { LookupProgress } from '../../src/domain/invoice/next-issue-step.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../src/domain/invoice/state.js';
import type { Instant } from '../../src/domain/shared/time.js';
import { accepted, limits as specLimits, T0 } from '../domain/invoice/fixtures.js';

/**
 * Who looks at an invoice, and when: the queue, its taps and the sweeper (design section 6, 9). Processes are awake: time
 * passes only when nobody has anything to do. What they may do to each other is the issuing model's matter.
 */
export type World = {
  now: Instant;
  state: InvoiceState;
  /** When the last event was appended; quiet is counted from it. */
  lastEventAt: Instant;
  /** R's notes on the look-ups of the last attempt. */
  progress: LookupProgress;
  /** The invoice's tap in the queue; a parked one is handed to nobody. */
  tap: 'none' | 'parked' | { dueAt: Instant };
  nextSweepAt: Instant;
  authorizer: { hasNote: boolean; isUnderWay: boolean };
  budget: Budget;
  /** Whoever handles the invoice's tap fails. */
  isPoisonous: boolean;
};

/** `forgotten`: taps that the queue loses. `lost`: answers to a send. */
export type Budget = { forgotten: number; lost: number };

/** The two halves of the sweeper, each of which a test takes away. */
export const rules = { reputsQuietWork: true, concludesWhatIsDue: true };
export type Rules = typeof rules;

/** As the product's, with few look-ups so that an hour has few instants. */
export const limits: Limits = { ...specLimits, lookupIntervalsSeconds: [60, 600] };
/** Coarser than the product's: a sweep is the bound on how late a verdict may be. */
export const SWEEP_SECONDS = 60;

export const startWorld = (budget: Budget, isPoisonous = false): World => ({
  now: T0,
  state: evolve(initialInvoice, accepted()),
  lastEventAt: T0,
  progress: { asked: 0 },
  tap: { dueAt: T0 },
  nextSweepAt: T0,
  authorizer: { hasNote: false, isUnderWay: false },
  budget,
  isPoisonous,
});

export const invoiceOf = ({ state }: World): Invoice => {
  if (state.kind !== 'invoice') throw new Error('the invoice is gone');
  return state;
};

export const appended = (world: World, events: readonly InvoiceEvent[]): World =>
  events.length === 0
    ? world
    : { ...world, state: events.reduce(evolve, world.state), lastEventAt: world.now, progress: { asked: 0 } };

export const keyOf = (world: World): string => JSON.stringify(world);
