import { workOnCancellation } from '../app/issuing/cancellation.js';
import { type IssuerDeps, type Next, sendNotice } from '../app/issuing/deps.js';
import { createLookUpSemaphore } from '../app/issuing/look-up-limit.js';
import { workOnIssue } from '../app/issuing/note.js';
import type { StreamName } from '../domain/common/ids.js';
import { epochMs, type Instant } from '../domain/common/time.js';
import { unreachable } from '../domain/common/unreachable.js';
import { type Delivery, type HandlingResult, ownerOf, type WorkQueue } from '../ports/work-queue.js';

/** Longest delay of a retry, on the queue's monotonic clock. It bounds the delay when the wall clock is set back. */
export const LONGEST_PAUSE_MS = 60_000;
const FIRST_FAULT_PAUSE_MS = 500;
/** The log may show an event to its reader a moment later than to the relay, and another service may share the queue: its worker comes by then. */
const UNKNOWN_PAUSE_MS = 1_000;

/**
 * A work item is parked after more than this many faults in a row that are not faults of an engine: otherwise an outage would park all open work,
 * which only a person starts again. The timers of the sweeper still end its invoice.
 */
const MAX_FAULTS = 30;

/** Of a stream, since its work went well. `counted`: without the faults of engines. */
type Faults = { all: number; counted: number };

const noFaults: Faults = { all: 0, counted: 0 };

type IssuerWorker = {
  queue: WorkQueue;
  deps: IssuerDeps;
  concurrency: number;
  /** Runs the work on an item of the company when it is its turn. */
  inTurn: <T>(company: string, task: () => Promise<T>) => Promise<T>;
  signal: AbortSignal;
  /** Whether the log or the database cannot be used now, so that the fault says nothing about the work item. */
  isEngineFault(error: unknown): boolean;
  onFault(stream: StreamName, error: unknown): void;
};

/**
 * Handles work items of the queue. At most half of the concurrent tasks may be look-ups, so that sends continue while the authorizer answers no
 * look-up. Resolves when the last send under way has been recorded.
 */
export const runIssuer = ({
  queue,
  deps,
  concurrency,
  inTurn,
  signal,
  isEngineFault,
  onFault,
}: IssuerWorker): Promise<void> => {
  const faults = new Map<string, Faults>();
  const lookUpSemaphore = createLookUpSemaphore(Math.max(1, Math.floor(concurrency / 2)), deps.clock);
  const report = (stream: StreamName, error: unknown): void => reportSafely(() => onFault(stream, error));
  const engineFaults = { isFault: isEngineFault, report };
  const handle = async (delivery: Delivery): Promise<HandlingResult> => {
    const { stream } = delivery;
    try {
      const work = delivery.kind === 'issue' ? workOnIssue : workOnCancellation;
      const next = await inTurn(ownerOf(delivery), () => work(stream, { ...deps, lookUpSemaphore, engineFaults }));
      faults.delete(stream);
      if (next.kind === 'unknown') return handlingOfUnknown(delivery, deps);
      return handlingOf(next, deps.clock.now());
    } catch (error) {
      report(stream, error);
      const before = faults.get(stream) ?? noFaults;
      const counted = before.counted + (isEngineFault(error) ? 0 : 1);
      if (counted > MAX_FAULTS) {
        faults.delete(stream);
        return { kind: 'park', reason: `failed ${counted} times` };
      }
      faults.set(stream, { all: before.all + 1, counted });
      return {
        kind: 'retry',
        afterMs: Math.min(LONGEST_PAUSE_MS, FIRST_FAULT_PAUSE_MS * 2 ** Math.min(before.all, 7)),
      };
    }
  };
  return queue.work({ concurrency, signal, handle });
};

/** A fault of the reporting itself must not end the worker. */
const reportSafely = (report: () => void): void => {
  try {
    report();
  } catch {
    // There is no other place to report to.
  }
};

/** Such work is looked at twice. Then it is removed, because an invoice that the log has comes again by the sweeper. */
const handlingOfUnknown = ({ deliveries, stream }: Delivery, deps: IssuerDeps): HandlingResult => {
  if (deliveries === 1) return { kind: 'retry', afterMs: UNKNOWN_PAUSE_MS };
  sendNotice(deps, { kind: 'unknown_invoice', stream });
  return { kind: 'ack' };
};

const handlingOf = (next: Exclude<Next, { kind: 'unknown' }>, now: Instant): HandlingResult => {
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
