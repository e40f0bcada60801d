import { invoicePrefix } from '../../domain/common/ids.js';
import { TooDeep } from '../../domain/log/hash-text.js';
import type { RecordedEvent, Revision } from '../../ports/event-log.js';
import { type ExaminedEvent, hashOf } from './examine.js';
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
 * over a part of the log may meet a stream in its middle.
 */
export const checkLink = (
  event: Pick<ExaminedEvent, 'stream' | 'revision' | 'type' | 'data' | 'metadata' | 'isHashed'>,
  head: ChainHead | undefined,
  beginsLater: boolean,
): ChainLink => {
  const { revision, metadata } = event;
  if (head !== undefined && revision <= head.revision) {
    const detail = `revision ${revision} follows revision ${head.revision}`;
    return { finding: findingOf(event, 'repeated_revision', detail), notAfterHead: true };
  }
  if (!event.isHashed) {
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

/** As `checkLink`, for an event as a reader of the log gets it. */
export const checkRecorded = (event: RecordedEvent, head: ChainHead | undefined, beginsLater: boolean) =>
  checkLink({ ...event, isHashed: isHashed(event) }, head, beginsLater);

/** What is wrong with the hashes and links of one stream, of which the events are the whole, or with `beginsLater` the end. */
export const chainFindings = (events: readonly RecordedEvent[], beginsLater = false): readonly Finding[] => {
  let head: ChainHead | undefined;
  return events.flatMap((event) => {
    const { finding, notAfterHead } = checkRecorded(event, head, beginsLater);
    if (notAfterHead !== true) head = { revision: event.revision, hash: event.metadata.hash ?? '' };
    return finding ?? [];
  });
};

const isHashed = (event: RecordedEvent): boolean => {
  try {
    return hashOf(event) === event.metadata.hash;
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return false;
  }
};
