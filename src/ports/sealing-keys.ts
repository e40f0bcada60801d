import { invoicePrefix, type Mode, type StreamName } from '../domain/common/ids.js';
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

/** Only test invoices are sealed under a day key, whose destruction erases them. Everything else is sealed under the master key. */
export const sealingMode = (stream: StreamName): Mode => (stream.startsWith(invoicePrefix.test) ? 'test' : 'live');

/** Whether a generation is a day key outside of a test invoice, or no day key in one: no field of the stream was ever sealed under that name. */
export const isWrongKindOfKey = (generation: string, stream: StreamName): boolean =>
  /^t\d{4}-/.test(generation) !== (sealingMode(stream) === 'test');

/**
 * Keys for sealed fields, 32 bytes each. Live: derived (HKDF) from a generation of the master key and the stream's name, so that losing
 * the database loses no key. Test: a day key, destroyed after 8 days, which makes copies in backups unreadable too.
 */
export type SealingKeys = {
  /** Test: the key of the UTC day of `at` while that key exists, else today's. */
  forSealing(mode: Mode, stream: StreamName, at: Instant): Promise<SealingKey>;
  /**
   * Undefined when the key was destroyed, lost with the database, or given up by an operator: the field is lost permanently. Throws
   * `SealingKeyUnknown` for a generation that neither the database nor the key file knows, `SealedTextChanged` for a text that is no name of a key
   * of this stream, and otherwise when the key should exist and cannot be read.
   */
  forOpening(generation: string, stream: StreamName): Promise<Buffer | undefined>;
};
