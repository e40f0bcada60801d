import type { Mode } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';

/** `tag` names the key inside the hashes made with it; letters, digits, `.` and `-`. */
export type GuardKey = { tag: string; key: Buffer };

/** Newest first. */
type GuardKeysInUse = readonly [GuardKey, ...GuardKey[]];

/**
 * Keys for the hashes of requests, 32 bytes each. Live: derived from a generation of the master key. Test: derived from a day key
 * and destroyed with it.
 */
export type GuardKeys = {
  /**
   * All keys that a process may use within `seconds` before `at`, or around that time when its clock or keyring is behind or ahead.
   * The first is the key of `at`. Throws when the vault cannot be read.
   */
  inUse(mode: Mode, at: Instant, seconds: number): Promise<GuardKeysInUse>;
  /** Undefined when the key was destroyed, given up or never known; its hashes can then no longer be compared. */
  ofTag(tag: string): Promise<Buffer | undefined>;
};
