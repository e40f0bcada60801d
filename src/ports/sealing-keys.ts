import type { Mode, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';

export type SealingKey = { generation: string; key: Buffer };

/**
 * Keys for sealed fields, 32 bytes each. Live: derived (HKDF) from a generation of the master key and the stream's name, so that losing
 * the database loses no key. Test: a day key, destroyed after 8 days, which makes copies in backups unreadable too.
 */
export type SealingKeys = {
  /** Test: the key of the UTC day of `at` while that key exists, else today's. */
  forSealing(mode: Mode, stream: StreamName, at: Instant): Promise<SealingKey>;
  /**
   * Undefined when the key was destroyed, lost with the database, or given up by an operator: the field is lost permanently. Throws when
   * the key should exist and cannot be read.
   */
  forOpening(generation: string, stream: StreamName): Promise<Buffer | undefined>;
};
