import { invoicePrefix, type StreamName } from '../../domain/common/ids.js';
import { ALL_STREAMS, companyPrefixes } from '../../domain/log/stream-prefixes.js';
import { type EventLog, isEarlier, type LogPosition, type RecordedEvent } from '../../ports/event-log.js';
import { shareOf, type WalkProgress, walkLog } from '../event-store/walk-log.js';
import { checkRecorded, isEndOfTestInvoice } from './chain.js';
import { describeEvent, type ShownEvent } from './event-line.js';
import { createFindings, type Finding, logEndFinding } from './finding.js';
import { type ExportFilter, MANIFEST_FORMAT, type ManifestHead, type ManifestStream } from './manifest.js';
import { byStream, merkleRoot } from './merkle.js';
import { createPositionAccount } from './position-account.js';

type ExportDeps = {
  log: Pick<EventLog, 'readAll' | 'head' | 'identity' | 'readStored'>;
  /** When given, the lines hold personal fields in clear too. */
  reveal?(event: RecordedEvent): Promise<ShownEvent>;
  onProgress?(progress: WalkProgress): void;
};

/**
 * What the export holds. `head` lacks the values that are known only once the file is finished. `losses`: broken hashes and links, and what a whole
 * log lacks; a reader of the export finds the same. `unnamedLosses`: how many more there are.
 */
type Exported = {
  head: Omit<ManifestHead, 'file' | 'bytes' | 'sha256' | 'exported_at' | 'public_key'>;
  losses: readonly Finding[];
  unnamedLosses: number;
  streams(): readonly ManifestStream[];
};

/** Positions of an export: everything after `after`, up to `upTo`. */
type Stretch = { after: LogPosition | null; upTo: LogPosition | null };

/**
 * The log as NDJSON, up to its head at the start; a whole log up to the next end of a test invoice after it, if any, and further until the ends
 * explain each empty position. Events are not kept; memory holds the head of each stream, which the manifest names.
 */
export const exportEvents = (filter: ExportFilter, deps: ExportDeps) => {
  const streams = new Map<StreamName, ManifestStream>();
  const prefixes = filter.company === undefined ? ALL_STREAMS : companyPrefixes(filter.company);
  const isPeriod = filter.from !== undefined || filter.to !== undefined;
  const isWhole = filter.company === undefined && !isPeriod;
  const isDense = deps.log.readStored !== undefined;
  const broken = createFindings();
  const account = isWhole && isDense ? createPositionAccount() : undefined;
  let headAtStart: LogPosition | null = null;
  let events = 0;
  let first: LogPosition | undefined;
  let last: LogPosition | null = null;

  const count = (event: RecordedEvent): void => {
    const { stream, revision, position, metadata } = event;
    const before = streams.get(stream);
    account?.add(event, event, before?.revision ?? -1);
    const { finding } = checkRecorded(event, before, filter.from !== undefined);
    if (finding !== undefined) broken.add(finding);
    const known = before ?? { stream, first_revision: revision, events: 0 };
    streams.set(stream, { ...known, revision, events: known.events + 1, hash: metadata.hash ?? '' });
    first ??= position;
    last = position;
    events += 1;
  };

  async function* linesOf({ after, upTo }: Stretch): AsyncGenerator<string, void, void> {
    for await (const page of pagesUpTo(deps.log, prefixes, after, upTo)) {
      let text = '';
      for (const event of page) {
        count(event);
        text += `${JSON.stringify(deps.reveal === undefined ? describeEvent(event) : await deps.reveal(event))}\n`;
      }
      if (text !== '') yield text;
      const share = shareOf(page.at(-1)?.position ?? upTo, upTo);
      deps.onProgress?.({ events, share: isPeriod ? (1 + share) / 2 : share });
    }
  }

  return {
    /** Groups of lines, in the order of the log. The caller reads all of them before `finish`. */
    lines: async function* (): AsyncGenerator<string, void, void> {
      headAtStart = await deps.log.head();
      const stretch = await stretchOf(filter, prefixes, headAtStart, deps);
      yield* linesOf(stretch);
      if (!isWhole) return;
      // A test invoice that ended meanwhile has lost events that an anchor in the file covers. Only an end after that anchor tells the reader why.
      let after = stretch.upTo;
      do {
        const ended = await nextEndOfTest(after, deps.log);
        if (ended === undefined) return;
        yield* linesOf({ after, upTo: ended });
        after = ended;
      } while (account?.isBalanced() === false);
    },
    finish: async (): Promise<Exported> => ({
      losses: [...broken.kept, ...(isWhole ? logEndFinding(last, headAtStart) : []), ...(account?.finish() ?? [])],
      unnamedLosses: broken.total - broken.kept.length,
      streams: () => inOrder(streams),
      head: {
        format: MANIFEST_FORMAT,
        log: await deps.log.identity(),
        filter,
        events,
        stream_count: streams.size,
        ...(first === undefined ? {} : { first_position: String(first) }),
        ...(last === null ? {} : { last_position: String(last) }),
        ...(isWhole && headAtStart !== null ? { head_position: String(headAtStart) } : {}),
        ...(isWhole ? { dense_positions: isDense } : {}),
        merkle_root: merkleRoot(inOrder(streams)),
      },
    }),
  };
};

const inOrder = (streams: ReadonlyMap<StreamName, ManifestStream>): readonly ManifestStream[] =>
  [...streams.values()].sort(byStream);

/** The events after `after` up to `upTo`, page by page; the last page is cut there. */
async function* pagesUpTo(
  log: ExportDeps['log'],
  prefixes: readonly string[],
  after: LogPosition | null,
  upTo: LogPosition | null,
): AsyncGenerator<readonly RecordedEvent[], void, void> {
  if (!isEarlier(after, upTo)) return;
  for await (const page of walkLog(log, prefixes, after)) {
    yield page.filter(({ position }) => !isEarlier(upTo, position));
    if (!isEarlier(page.at(-1)?.position ?? null, upTo)) return;
  }
}

/**
 * From the first event of the period to its last one. Clocks of processes differ, so an event between them may carry an instant outside the period;
 * it belongs to the export all the same, because a stream without it would show a gap.
 */
const stretchOf = async (
  filter: ExportFilter,
  prefixes: readonly string[],
  head: LogPosition | null,
  { log, onProgress }: ExportDeps,
): Promise<Stretch> => {
  const { from, to } = filter;
  if (from === undefined && to === undefined) return { after: null, upTo: head };
  let before: LogPosition | null = null;
  let found: Stretch | undefined;
  for await (const page of pagesUpTo(log, prefixes, null, head)) {
    for (const event of page) {
      if (isIn(event, filter)) found = { after: found === undefined ? before : found.after, upTo: event.position };
      before = event.position;
    }
    onProgress?.({ events: 0, share: shareOf(before, head) / 2 });
    if (to === undefined && found !== undefined) break;
  }
  if (found === undefined) return { after: null, upTo: null };
  return { after: from === undefined ? null : found.after, upTo: to === undefined ? head : found.upTo };
};

/** Position of the first end of a test invoice after `after`. */
const nextEndOfTest = async (after: LogPosition | null, log: ExportDeps['log']): Promise<LogPosition | undefined> => {
  for await (const page of walkLog(log, [invoicePrefix.test], after)) {
    const ended = page.find(isEndOfTestInvoice);
    if (ended !== undefined) return ended.position;
  }
  return undefined;
};

const isIn = ({ metadata }: RecordedEvent, { from, to }: ExportFilter): boolean => {
  const at = metadata.recordedAt ?? '';
  return (from === undefined || at >= from) && (to === undefined || at < to);
};
