import type { StreamName } from '../domain/shared/ids.js';

/** A tap on the shoulder: "look at this stream". The log is the truth; a lost or doubled tap does no harm. */
export type Tap = {
  kind: 'issue' | 'cancel';
  stream: StreamName;
  /** Dedupe id: the same tap put twice in a short time is one. A re-put by the sweeper carries its sweep number. */
  messageId: string;
};

/** The sweeper's taps (re-puts, refill) begin with the stream's name; those of new work carry an event id. */
export const isReput = ({ messageId, stream }: Tap): boolean => messageId.startsWith(`${stream}/`);

export type Delivery = Tap & { deliveries: number };

/** What became of a delivery (design section 8). A worker may not halt: that is a projector's right. */
export type Verdict = { kind: 'ack' } | { kind: 'retry'; afterMs: number } | { kind: 'park'; reason: string };

export type ParkedTap = Tap & { reason: string; parkedAt: string };

/**
 * Thrown when the queue cannot be used now. The tap may or may not be in it: putting it again does no harm, and the
 * sweeper taps again whatever is forgotten.
 */
export class WorkQueueUnavailable extends Error {
  override readonly name = 'WorkQueueUnavailable';

  /** `code` is the engine's own, never its message. */
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(`${message} (${code})`);
  }
}

/** Every call but `work`, which waits for its engine, throws `WorkQueueUnavailable` within a bound. */
export type WorkQueue = {
  /** A re-put (`isReput`) neither shortens a pause nor wakes what is parked; new work does both. */
  put(tap: Tap): Promise<void>;
  /** Handles deliveries, at most `concurrency` at once, until the signal aborts; resolves when the last one is finished. */
  work(options: {
    kinds: readonly Tap['kind'][];
    concurrency: number;
    signal: AbortSignal;
    handle(delivery: Delivery): Promise<Verdict>;
  }): Promise<void>;
  /** Taps waiting or being handled. */
  depth(): Promise<number>;
  parked(): Promise<readonly ParkedTap[]>;
  /** Puts a parked tap back; false when there is none for this stream. */
  retryParked(stream: StreamName): Promise<boolean>;
};
