import { TooDeep } from '../../domain/log/hash-text.js';
import type { RecordedEvent } from '../../ports/event-log.js';
import { type ChainHead, checkLink } from './chain.js';
import { hashOf } from './examine.js';
import type { Finding } from './finding.js';

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
