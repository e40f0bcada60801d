import type { Instant } from '../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { evolve } from '../../src/domain/invoice/evolve.js';
import type { Limits } from '../../src/domain/invoice/limits.js';
import type { LookupProgress } from '../../src/domain/invoice/send-steps.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../src/domain/invoice/state.js';
import { accepted, limits as specLimits, T0 } from '../support/fixture/invoice.js';

/**
 * When an invoice is looked at: the queue, its work items and the sweeper (docs/architecture.md#workers-and-their-failures). Processes do not
 * sleep: time passes only when no process has work. The issuing model shows what processes can do to each other.
 */
export type World = {
  now: Instant;
  state: InvoiceState;
  /** When the last event was appended; quiet is counted from it. */
  lastEventAt: Instant;
  /** What the database holds about the look-ups of the last attempt. */
  progress: LookupProgress;
  /** The work item of the invoice in the queue; a parked one is not delivered. */
  workItem: 'none' | 'parked' | { dueAt: Instant };
  nextSweepAt: Instant;
  authorizer: { hasNote: boolean; isUnderWay: boolean };
  budget: Budget;
  /** Each handling of the invoice's work item fails. */
  isPoisonous: boolean;
};

/** `forgotten`: work items that the queue loses. `lost`: answers to a send. */
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
  workItem: { dueAt: T0 },
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
