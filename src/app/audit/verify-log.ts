import type { StreamName } from '../../domain/common/ids.js';
import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import { type EventLog, isEarlier, type LogPosition, type Revision } from '../../ports/event-log.js';
import { shareOf, type WalkProgress, walkLog, walkStored } from '../event-store/walk-log.js';
import { type Examiner, examined, ownExaminer } from './examiner.js';
import { createFindings, type Finding, findingOf, logEndFinding } from './finding.js';
import { type CheckReport, createLogChecker, type LogChecker } from './log-checker.js';
import { createPositionAccount } from './position-account.js';

/** `readable`: false when an event cannot be read at all, so that nothing can fold the log to its end. */
type LogReport = CheckReport & { readable: boolean };

type LogReader = Pick<EventLog, 'readAll' | 'head' | 'readStored' | 'readHidden'>;

type VerifyOptions = { examiner?: Examiner; keySeconds?: number; onProgress?(progress: WalkProgress): void };

/** Checks the whole log (see `createLogChecker`). Needs no key, because hashes and shapes cover the sealed text. */
export const verifyLog = async (
  log: LogReader,
  { examiner = ownExaminer, keySeconds, onProgress }: VerifyOptions = {},
): Promise<LogReport> => {
  const findings = createFindings();
  const checker = createLogChecker('whole', findings, keySeconds);
  const { readStored } = log;
  const account = readStored === undefined ? undefined : createPositionAccount();
  let readable = true;
  /** Position of the last event, readable or not. */
  let last: LogPosition | null = null;
  // Read before the walk, so that the walk must reach at least this event.
  const head = await log.head();
  // Read before the walk, so that the walk meets the end of every test invoice that retention had cut by then.
  const hidden = readStored === undefined ? await log.readHidden?.(ALL_STREAMS) : undefined;
  const pages =
    readStored === undefined
      ? examined(walkLog(log, ALL_STREAMS), (items) => ({ form: 'events', items }), examiner)
      : examined(walkStored(readStored), (items) => ({ form: 'rows', items }), examiner);
  for await (const { items, examinations } of pages) {
    for (const [index, item] of items.entries()) {
      const { event, fault } = examinations[index] ?? { event: undefined, fault: undefined };
      account?.add(item, event, checker.streams.get(item.stream)?.head.revision ?? -1);
      if (isEarlier(last, item.position)) last = item.position;
      if (event === undefined) {
        readable = false;
        findings.add(findingOf(item, 'unreadable_event', fault ?? 'the event cannot be read'));
      } else {
        if (fault !== undefined) findings.add(findingOf(item, 'stored_otherwise', fault));
        checker.check(event);
      }
    }
    onProgress?.({ events: checker.events, share: shareOf(checker.lastPosition, head) });
  }
  for (const [stream, first] of hidden ?? []) {
    const finding = hiddenFinding(stream, first, checker);
    if (finding !== undefined) findings.add(finding);
  }
  if (account !== undefined) {
    for (const finding of account.finish()) findings.add(finding);
    // Read after the walk, so that the head cannot lie before the last event that the walk has seen.
    const end = await log.head();
    if (isEarlier(end, last)) {
      const detail = `the log says that it ends at ${end ?? 'no position'}, so readers miss the events after it, up to ${last}`;
      findings.add({ kind: 'log_end', detail });
    }
  }
  for (const finding of logEndFinding(last, head)) findings.add(finding);
  return { ...checker.finish(), readable };
};

/** Events that the walk meets and no reader of their stream finds: requests are answered as if the events did not exist. */
const hiddenFinding = (stream: StreamName, first: Revision | null, { streams }: LogChecker): Finding | undefined => {
  const known = streams.get(stream);
  const end = known?.head.revision ?? -1;
  if (first !== null && first <= end) {
    if (known?.isEnded === true) return undefined;
    const detail = `a read of the stream begins with revision ${first}, because its metadata hide what is before`;
    return { kind: 'missing_revision', stream, revision: 0, detail };
  }
  const how = first === null ? 'the stream was deleted for good' : 'its metadata hide every event';
  return { kind: 'missing_revision', stream, revision: 0, detail: `a read of the stream finds nothing: ${how}` };
};
