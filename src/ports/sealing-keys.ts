import type { Mode, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';

export type SealingKey = { generation: string; key: Buffer };

/**
 * Thrown for sealed text that cannot be opened, which no lost key explains: the text was changed, or was sealed for another place. The message is
 * for a person and holds nothing of the content.
 */
export class SealedTextChanged extends Error {
  override readonly name = 'SealedTextChanged';

  /** `place`: stream and revision, where they are known. */
  constructor(
    readonly fault: string,
    place?: string,
  ) {
    super(place === undefined ? fault : `${place}: ${fault}`);
  }
}

/**
 * Keys for sealed fields, 32 bytes each. Live: derived (HKDF) from a generation of the master key and the stream's name, so that losing
 * the database loses no key. Test: a day key, destroyed after 8 days, which makes copies in backups unreadable too.
 */
export type SealingKeys = {
  /** Test: the key of the UTC day of `at` while that key exists, else today's. */
  forSealing(mode: Mode, stream: StreamName, at: Instant): Promise<SealingKey>;
  /**
   * Undefined when the key was destroyed, lost with the database, or given up by an operator: the field is lost permanently. Throws
   * `SealedTextChanged` for the name of a key that no lost key can have, and otherwise when the key should exist and cannot be read.
   */
  forOpening(generation: string, stream: StreamName): Promise<Buffer | undefined>;
};
