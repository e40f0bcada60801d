import { invoicePrefix, type StreamName } from '../../domain/shared/ids.js';
import type { EventLog, LogPosition, RecordedEvent, Revision } from '../../ports/event-log.js';
import { eventHash } from '../event-store/codec.js';

export type Finding = {
  kind: 'hash_mismatch' | 'broken_link' | 'missing_revision';
  stream: StreamName;
  revision: Revision;
  detail: string;
};

export type ChainReport = { streams: number; events: number; findings: readonly Finding[] };

const PAGE = 1_000;

/** Walks the whole log and recomputes the hash chain of every stream; needs no key, because the hashes cover sealed text. */
export const verifyChain = async (log: EventLog, prefixes: readonly string[]): Promise<ChainReport> => {
  const heads = new Map<StreamName, { revision: Revision; hash: string }>();
  const findings: Finding[] = [];
  let events = 0;
  let after: LogPosition | null = null;
  for (;;) {
    const page: readonly RecordedEvent[] = await log.readAll({ prefixes, after, limit: PAGE });
    for (const event of page) {
      findings.push(...checkEvent(event, heads.get(event.stream)));
      heads.set(event.stream, { revision: event.revision, hash: event.metadata.hash ?? '' });
      after = event.position;
    }
    events += page.length;
    if (page.length === 0) return { streams: heads.size, events, findings };
  }
};

const checkEvent = (
  event: RecordedEvent,
  head: { revision: Revision; hash: string } | undefined,
): readonly Finding[] => {
  const { stream, revision, metadata } = event;
  const at = { stream, revision };
  if (eventHash(stream, revision, event) !== metadata.hash) {
    return [{ kind: 'hash_mismatch', ...at, detail: 'the stored hash is not the hash of the stored event' }];
  }
  const pruned = stream.startsWith(invoicePrefix.test) && event.type === 'TestInvoiceDeleted';
  if (pruned && event.data.lastHash !== metadata.prevHash) {
    return [{ kind: 'broken_link', ...at, detail: 'the event that ends a test invoice names another last hash' }];
  }
  if (head === undefined) {
    const begins = revision === 0 && metadata.prevHash === '';
    return begins || pruned
      ? []
      : [{ kind: 'missing_revision', ...at, detail: 'the stream does not begin with revision 0' }];
  }
  if (revision !== head.revision + 1) {
    return pruned ? [] : [{ kind: 'missing_revision', ...at, detail: `revision ${head.revision + 1} is missing` }];
  }
  return metadata.prevHash === head.hash
    ? []
    : [{ kind: 'broken_link', ...at, detail: 'prevHash is not the hash of the event before' }];
};
