import type { StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';

export type DuplicateMark = { stream: StreamName; at: Instant };

/** The fingerprints of one request in the duplicate window: the same content under each key that may be in use around now. */
export type Fingerprints = {
  /** The request's mark is placed under all of these. The first is recorded in the event. */
  placed: readonly [string, ...string[]];
  /** Fingerprint of the time before keyed hashes: compared, never placed. */
  legacy: string;
};

/** Two requests collide when they have a fingerprint in common. */
export type DuplicateWindow = {
  /** Places the mark, unless a mark younger than `youngerThan` exists; returns that one. Null places the mark in any case. */
  place(
    fingerprints: Fingerprints,
    mark: DuplicateMark,
    youngerThan: Instant | null,
  ): Promise<DuplicateMark | undefined>;
  /** Replaces `from`, the mark of a request that left nothing, by `to`. False when another mark is in the window. */
  takeOver(fingerprints: Fingerprints, from: DuplicateMark, to: DuplicateMark, youngerThan: Instant): Promise<boolean>;
  /** Removes the request's own mark after a proven refusal, but no mark of a request that has taken the stream over. */
  remove(fingerprints: Fingerprints, own: DuplicateMark): Promise<void>;
};
