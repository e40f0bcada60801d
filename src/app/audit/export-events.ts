import type { StreamName } from '../../domain/common/ids.js';
import { ALL_STREAMS, companyPrefixes } from '../../domain/log/stream-prefixes.js';
import { type EventLog, isEarlier, type LogPosition, type RecordedEvent } from '../../ports/event-log.js';
import { shareOf, type WalkProgress, walkLog } from '../event-store/walk-log.js';
import { describeEvent, type ShownEvent } from './event-line.js';
import { type ExportFilter, MANIFEST_FORMAT, type ManifestHead, type ManifestStream } from './manifest.js';
import { byStream, merkleRoot } from './merkle.js';

type ExportDeps = {
  log: Pick<EventLog, 'readAll' | 'head' | 'identity'>;
  /** When given, the lines hold personal fields in clear too. */
  reveal?(event: RecordedEvent): Promise<ShownEvent>;
  onProgress?(progress: WalkProgress): void;
};

/** What the export holds. `head` lacks the values that are known only once the file is finished. */
type Exported = {
  head: Omit<ManifestHead, 'file' | 'bytes' | 'sha256' | 'exported_at' | 'public_key'>;
  streams(): readonly ManifestStream[];
};

/**
 * The log as NDJSON, up to its head at the start. Events are not kept; memory holds the head of each stream, which the
 * manifest names.
 */
export const exportEvents = (filter: ExportFilter, deps: ExportDeps) => {
  const streams = new Map<StreamName, ManifestStream>();
  let events = 0;
  let first: LogPosition | undefined;
  let last: LogPosition | undefined;

  const count = ({ stream, revision, position, metadata }: RecordedEvent): void => {
    const known = streams.get(stream) ?? { stream, first_revision: revision, events: 0 };
    streams.set(stream, { ...known, revision, events: known.events + 1, hash: metadata.hash ?? '' });
    first ??= position;
    last = position;
    events += 1;
  };

  return {
    /** Groups of lines, in the order of the log. The caller reads all of them before `finish`. */
    lines: async function* (): AsyncGenerator<string, void, void> {
      const end = await deps.log.head();
      const prefixes = filter.company === undefined ? ALL_STREAMS : companyPrefixes(filter.company);
      for await (const page of end === null ? [] : walkLog(deps.log, prefixes)) {
        let text = '';
        for (const event of page) {
          if (end !== null && event.position > end) break;
          if (!isIn(event, filter)) continue;
          count(event);
          text += `${JSON.stringify(deps.reveal === undefined ? describeEvent(event) : await deps.reveal(event))}\n`;
        }
        if (text !== '') yield text;
        const reached = page.at(-1)?.position ?? null;
        deps.onProgress?.({ events, share: shareOf(reached, end) });
        if (!isEarlier(reached, end)) return;
      }
    },
    finish: async (): Promise<Exported> => ({
      streams: () => inOrder(streams),
      head: {
        format: MANIFEST_FORMAT,
        log: await deps.log.identity(),
        filter,
        events,
        stream_count: streams.size,
        ...(first === undefined ? {} : { first_position: String(first) }),
        ...(last === undefined ? {} : { last_position: String(last) }),
        merkle_root: merkleRoot(inOrder(streams)),
      },
    }),
  };
};

const inOrder = (streams: ReadonlyMap<StreamName, ManifestStream>): readonly ManifestStream[] =>
  [...streams.values()].sort(byStream);

const isIn = ({ metadata }: RecordedEvent, { from, to }: ExportFilter): boolean => {
  const at = metadata.recordedAt ?? '';
  return (from === undefined || at >= from) && (to === undefined || at < to);
};
