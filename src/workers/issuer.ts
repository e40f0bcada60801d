import { workOnCancellation } from '../app/issuer/cancel.js';
import type { IssuerDeps, Next } from '../app/issuer/deps.js';
import { workOnIssue } from '../app/issuer/issue.js';
import { createLookUpPlaces } from '../app/issuer/look-up-places.js';
import { epochMs } from '../domain/shared/time.js';
import { unreachable } from '../domain/shared/unreachable.js';
import type { Delivery, Verdict, WorkQueue } from '../ports/work-queue.js';

/** The next look is never more than this away, on the queue's monotonic clock: a wall clock set back delays none. */
const LONGEST_PAUSE_MS = 60_000;
const FIRST_FAULT_PAUSE_MS = 500;

/** A tap that keeps failing is parked after this many deliveries; the sweeper's timers settle its invoice all the same. */
const MAX_FAULTS = 30;

export type IssuerWorker = {
  queue: WorkQueue;
  deps: IssuerDeps;
  concurrency: number;
  signal: AbortSignal;
  onFault(stream: string, error: unknown): void;
};

/**
 * Taps in, protocol steps out; at most half of the places are given to look-ups, so that sends go on beside an authorizer that
 * answers none. Resolves when the last send under way has been recorded.
 */
export const runIssuer = ({ queue, deps, concurrency, signal, onFault }: IssuerWorker): Promise<void> => {
  const faults = new Map<string, number>();
  const lookUpPlaces = createLookUpPlaces(Math.max(1, Math.floor(concurrency / 2)), deps.clock);
  const handle = async (delivery: Delivery): Promise<Verdict> => {
    const { stream } = delivery;
    try {
      const work = delivery.kind === 'issue' ? workOnIssue : workOnCancellation;
      const next = await work(stream, { ...deps, lookUpPlaces });
      faults.delete(stream);
      return verdictOf(next, deps.clock.now());
    } catch (error) {
      told(() => onFault(stream, error));
      const count = (faults.get(stream) ?? 0) + 1;
      faults.set(stream, count);
      if (count > MAX_FAULTS) {
        faults.delete(stream);
        return { kind: 'park', reason: `failed ${count} times` };
      }
      return { kind: 'retry', afterMs: Math.min(LONGEST_PAUSE_MS, FIRST_FAULT_PAUSE_MS * 2 ** Math.min(count - 1, 7)) };
    }
  };
  return queue.work({ kinds: ['issue', 'cancel'], concurrency, signal, handle });
};

/** A fault that cannot be told is counted all the same. */
const told = (tell: () => void): void => {
  try {
    tell();
  } catch {
    // Nobody is left to tell.
  }
};

const verdictOf = (next: Next, now: string): Verdict => {
  switch (next.kind) {
    case 'done':
      return { kind: 'ack' };
    case 'park':
      return next;
    case 'later':
      return { kind: 'retry', afterMs: Math.max(10, Math.min(LONGEST_PAUSE_MS, epochMs(next.at) - epochMs(now))) };
    default:
      return unreachable(next);
  }
};
