import type { StreamName } from '../domain/shared/ids.js';

/** A tap on the shoulder: "look at this stream". The log is the truth; a lost or doubled tap does no harm. */
export type Tap = {
  kind: 'issue' | 'cancel';
  stream: StreamName;
  /** Dedupe id: the same tap put twice in a short time is one. A re-put by the sweeper carries its sweep number. */
  messageId: string;
};

export type Delivery = Tap & { deliveries: number };

/** What became of a delivery (design section 8). A worker may not halt: that is a projector's right. */
export type Verdict = { kind: 'ack' } | { kind: 'retry'; afterMs: number } | { kind: 'park'; reason: string };

export type ParkedTap = Tap & { reason: string; parkedAt: string };

export type WorkQueue = {
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
