import type { Mode } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';

/** `tag` names the key in what it hashed; letters, digits, `.` and `-`. */
export type GuardKey = { tag: string; key: Buffer };

/** Newest first. */
export type GuardKeysInUse = readonly [GuardKey, ...GuardKey[]];

/**
 * Keys for the hashes of requests, 32 bytes each. Live: derived from a generation of the master key. Test: from the key of a
 * UTC day, with which they are destroyed.
 */
export type GuardKeys = {
  /**
   * All keys that a process may hash with within `seconds` before `at` or, its clock or its keyring being behind or ahead, around
   * then. The first is the one of `at`. Throws when the vault cannot be read.
   */
  inUse(mode: Mode, at: Instant, seconds: number): Promise<GuardKeysInUse>;
  /** Undefined when it was destroyed, given up or never known: what it hashed can be compared with nothing any more. */
  ofTag(tag: string): Promise<Buffer | undefined>;
};
