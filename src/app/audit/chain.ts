import { invoicePrefix } from '../../domain/common/ids.js';
import { hashTextIfAny } from '../../domain/log/hash-text.js';
import type { RecordedEvent, Revision } from '../../ports/event-log.js';
import { sha256Hex } from '../event-store/hashes.js';
import { type Finding, findingOf } from './finding.js';

export type ChainHead = { revision: Revision; hash: string };

type ChainLink = {
  finding?: Finding;
  /** The event does not follow the head of its stream: the head stays, and the event is not checked further. */
  notAfterHead?: true;
};

/** The last event of a deleted test invoice may follow a gap: everything before it was cut (docs/architecture.md#sealing-and-hash-chain). */
export const isEndOfTestInvoice = ({ stream, type }: Pick<RecordedEvent, 'stream' | 'type'>): boolean =>
  type === 'TestInvoiceDeleted' && stream.startsWith(invoicePrefix.test);

/**
 * Whether an event carries its own hash and follows the head of its stream, which is undefined for the first event seen. `beginsLater`: a walk
 * over a part of the log may meet a stream in its middle. `contentHash`: the SHA-256 of the hash text, where the caller knows it already.
 */
export const checkLink = (
  event: RecordedEvent,
  head: ChainHead | undefined,
  {
    beginsLater = false,
    contentHash = hashOf(event),
  }: { beginsLater?: boolean; contentHash?: string | undefined } = {},
): ChainLink => {
  const { revision, metadata } = event;
  if (head !== undefined && revision <= head.revision) {
    const detail = `revision ${revision} follows revision ${head.revision}`;
    return { finding: findingOf(event, 'repeated_revision', detail), notAfterHead: true };
  }
  if (contentHash !== metadata.hash) {
    return { finding: findingOf(event, 'hash_mismatch', 'the stored hash is not the hash of the stored event') };
  }
  const ended = isEndOfTestInvoice(event);
  if (ended && event.data.lastHash !== metadata.prevHash) {
    return { finding: findingOf(event, 'broken_link', 'the event that ends a test invoice names another last hash') };
  }
  if (head === undefined) {
    const begins =
      (revision === 0 && metadata.prevHash === '') || (ended && revision > 0) || (beginsLater && revision > 0);
    return begins ? {} : { finding: findingOf(event, 'missing_revision', 'the stream does not begin with revision 0') };
  }
  if (revision !== head.revision + 1) {
    return ended ? {} : { finding: findingOf(event, 'missing_revision', `revision ${head.revision + 1} is missing`) };
  }
  return metadata.prevHash === head.hash
    ? {}
    : { finding: findingOf(event, 'broken_link', 'prevHash is not the hash of the event before') };
};

/** Undefined for an event without a hash text, which no engine would have stored. */
const hashOf = (event: RecordedEvent): string | undefined => {
  const text = hashTextIfAny(event.stream, event.revision, event);
  return text === undefined ? undefined : sha256Hex(text);
};
