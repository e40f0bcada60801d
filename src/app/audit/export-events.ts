import { ALL_STREAMS, companyPrefixes } from '../../domain/log/stream-prefixes.js';
import type { EventLog, LogPosition, RecordedEvent } from '../../ports/event-log.js';
import { describeEvent, type ShownEvent } from './event-line.js';
import type { ExportFilter, ManifestHead, ManifestStream } from './manifest.js';
import { MANIFEST_FORMAT } from './manifest.js';
import { merkleRoot } from './merkle.js';
import { createStreamTable, inOrder, type StreamTable } from './stream-table.js';
import { shareOf, type WalkProgress, walkLog } from './walk.js';

export type ExportDeps = {
  log: Pick<EventLog, 'readAll' | 'head' | 'identity'>;
  /** With it the lines have personal fields in clear, too. */
  reveal?(event: RecordedEvent): Promise<ShownEvent>;
  onProgress?(progress: WalkProgress): void;
};

/** What an export was found to hold; `head` lacks what only the finished file tells. */
export type Exported = {
  head: Omit<ManifestHead, 'file' | 'bytes' | 'sha256' | 'exported_at' | 'public_key'>;
  streams(): Iterable<ManifestStream>;
};

export type EventExport = {
  /** Lines in order of the log, some at a time. To be read to its end before `finish`. */
  chunks(): AsyncGenerator<string, void, void>;
  finish(): Promise<Exported>;
};

/**
 * The log as NDJSON, up to where it ended at the beginning. Events pass through; what stays in memory is about 130 bytes for each
 * stream, whose last revision and hash the manifest names.
 */
export const exportEvents = (filter: ExportFilter, deps: ExportDeps): EventExport => {
  const table = createStreamTable(2);
  let events = 0;
  let first: LogPosition | undefined;
  let last: LogPosition | undefined;

  const note = ({ stream, revision, position, metadata }: RecordedEvent): void => {
    const known = table.find(stream);
    const index = known ?? table.add(stream);
    const numbers = table.numbersOf(index);
    if (known === undefined) numbers[FIRST] = revision;
    numbers[COUNT] = (numbers[COUNT] ?? 0) + 1;
    table.setHead(index, revision, metadata.hash ?? '');
    first ??= position;
    last = position;
    events += 1;
  };

  return {
    chunks: async function* () {
      const end = await deps.log.head();
      const prefixes = filter.company === undefined ? ALL_STREAMS : companyPrefixes(filter.company);
      for await (const page of end === null ? [] : walkLog(deps.log, prefixes)) {
        let lines = '';
        for (const event of page) {
          if (end !== null && event.position > end) break;
          if (!isIn(event, filter)) continue;
          note(event);
          lines += `${JSON.stringify(deps.reveal === undefined ? describeEvent(event) : await deps.reveal(event))}\n`;
        }
        if (lines !== '') yield lines;
        deps.onProgress?.({ events, share: shareOf(page[page.length - 1]?.position ?? null, end) });
        if (end !== null && (page[page.length - 1]?.position ?? end) >= end) return;
      }
    },
    finish: async () => ({
      streams: () => streamsOf(table),
      head: {
        format: MANIFEST_FORMAT,
        log: await deps.log.identity(),
        filter,
        events,
        stream_count: table.size,
        ...(first === undefined ? {} : { first_position: String(first) }),
        ...(last === undefined ? {} : { last_position: String(last) }),
        merkle_root: merkleRoot(streamsOf(table)),
      },
    }),
  };
};

/** What is kept of each stream. */
const FIRST = 0;
const COUNT = 1;

const isIn = ({ metadata }: RecordedEvent, { from, to }: ExportFilter): boolean => {
  const at = metadata.recordedAt ?? '';
  return (from === undefined || at >= from) && (to === undefined || at < to);
};

function* streamsOf(table: StreamTable): Generator<ManifestStream, void, void> {
  const indexes = inOrder(
    table,
    Array.from({ length: table.size }, (_, index) => index),
  );
  for (const index of indexes) {
    const { stream, revision, hash } = table.headOf(index);
    const [first_revision = 0, events = 0] = table.numbersOf(index);
    yield { stream, first_revision, revision, events, hash };
  }
}
