import type { Mode, StreamName } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';

export type SealingKey = { generation: string; key: Buffer };

/**
 * Keys for personal fields, 32 bytes each. Live: derived (HKDF) from a generation of the master key and the stream's
 * name, so that losing R loses nothing. Test: one random key per UTC day, destroyed after 8 days, which erases backups too.
 */
export type SealingKeys = {
  /** Test: by the key of the day of `at` as long as it is kept, else by today's. */
  forSealing(mode: Mode, stream: StreamName, at: Instant): Promise<SealingKey>;
  /**
   * Undefined when the key was destroyed, lost with R, or given up as lost by an operator: the field is gone for good. Throws
   * when it should exist and cannot be had.
   */
  forOpening(generation: string, stream: StreamName): Promise<Buffer | undefined>;
};
