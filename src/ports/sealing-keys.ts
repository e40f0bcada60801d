import type { Mode, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';

export type SealingKey = { generation: string; key: Buffer };

/**
 * Thrown for sealed text that cannot be opened, which no lost key explains: the text was changed, or was sealed for another place. The message is
 * for a person and holds nothing of the content.
 */
export class SealedTextChanged extends Error {
  override readonly name: string = 'SealedTextChanged';

  /** `place`: stream and revision, where they are known. */
  constructor(
    readonly fault: string,
    place?: string,
  ) {
    super(place === undefined ? fault : `${place}: ${fault}`);
  }

  /** The same fault, with the field and its event. */
  inField(field: string, place: string): SealedTextChanged {
    return new SealedTextChanged(this.faultOf(field), place);
  }

  protected faultOf(field: string): string {
    return `the sealed field ${field} cannot be opened: ${this.fault}`;
  }
}

/**
 * Thrown for sealed text under a generation that neither the database nor the key file knows. The text was changed, or both are older than that
 * generation: then the text opens once the key file has its line. `fault` says what to do.
 */
export class SealingKeyUnknown extends SealedTextChanged {
  override readonly name = 'SealingKeyUnknown';

  override inField(field: string, place: string): SealingKeyUnknown {
    return new SealingKeyUnknown(this.faultOf(field), place);
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
   * `SealingKeyUnknown` for a generation that neither the database nor the key file knows, `SealedTextChanged` for a text that is no name of a key, and
   * otherwise when the key should exist and cannot be read.
   */
  forOpening(generation: string, stream: StreamName): Promise<Buffer | undefined>;
};
